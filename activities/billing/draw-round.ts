import type { Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import { newTrial } from '#entities/billing/entitlements.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import type { BilledParty } from '#entities/billing/provider-state.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import { lockBilling, type Billing } from './billing-row.ts';

/** One reading of a customer. */
export interface Round {
  /** Later rounds have larger numbers. */
  readonly number: number;
  readonly billing: Billing;
  /** The organization as invoices name it. */
  readonly party: BilledParty;
  /** An earlier round may have created a customer, and died before it stored the id. */
  readonly isRepeated: boolean;
}

/** Time after which a round that wrote nothing is repeated, in milliseconds. */
export const roundTimeMs = 3_600_000;

/**
 * Begins a round: the locked row gives it a number of its own. The row also keeps what the customer is created with, so that a repeated
 * creation under the same key is the same request. The first round begins the trial of an organization that was there before billing was on.
 * @returns undefined for organizations without a customer of their own, and for deleted ones
 */
export async function drawRound(
  unit: UnitOfWork,
  organizationId: string,
  catalogue: Catalogue,
): Promise<Round | undefined> {
  const { data, clock } = unit;
  const held = await lockBilling(unit, organizationId);
  const home = held && (await data.findOne(organization, { id: { eq: organizationId } }));
  const settings = home && (await data.findOne(organizationSetting, { organizationId: { eq: organizationId } }));
  if (!held || !settings) return undefined;
  const party = partyOf(home, settings);
  // One after the other: the mail about a change reads the former address from the row, which keeps it until the mail is sent.
  const isMoved = party.email !== held.billingEmail && held.formerBillingEmail === null;
  const isUnknown = held.drawnRound === 0 && held.customerId === null && held.trialEndsAt === null;
  const billing = await data.update(organizationBilling, held.id, {
    drawnRound: held.drawnRound + 1,
    nextCheckAt: new Date(clock.now().getTime() + roundTimeMs),
    ...(held.customerId === null && held.billedAs === null ? { billedAs: party } : {}),
    ...(isUnknown ? { trialEndsAt: newTrial(catalogue, clock.now()).endsAt } : {}),
    ...(isMoved ? { billingEmail: party.email, formerBillingEmail: held.billingEmail } : {}),
  });
  if (isMoved && held.billingEmail !== null)
    unit.emit(customEvent(organizationBilling, 'billing_email_changed', billing, {}));
  return { number: billing.drawnRound, billing, party, isRepeated: held.drawnRound > 0 };
}

function partyOf(
  { id, name, displayName }: RowOf<typeof organization>,
  settings: RowOf<typeof organizationSetting>,
): BilledParty {
  const address = {
    line1: settings.billingLine1,
    line2: settings.billingLine2,
    city: settings.billingCity,
    region: settings.billingRegion,
    postalCode: settings.billingPostalCode,
    country: settings.billingCountry,
  };
  return {
    organizationId: id,
    name: displayName ?? name,
    email: settings.billingEmail,
    phone: settings.billingPhone,
    address: Object.values(address).some((part) => part !== null) ? address : null,
    taxId: settings.taxId,
  };
}
