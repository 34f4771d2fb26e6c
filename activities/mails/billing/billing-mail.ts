import type { organizationBilling } from '#entities/billing/organization-billing.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { aboutRecord, owners, type Addressee, type Occasion, type Person } from '../audience.ts';
import type { MailContext } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

type BillingContext = MailContext<RowOf<typeof organizationBilling>>;

/** The owners of the organization: they can pay. */
export async function payers(occasion: Occasion<unknown>): Promise<Person[]> {
  return (await owners(occasion)).map(({ userId }) => aboutRecord(occasion, userId));
}

/** An address that the record has. @param which part of the key: an event is about two addresses */
export function addressOfBilling({ event, key }: Occasion<unknown>, which: string): Addressee[] {
  const { entityId: id, organizationId } = event;
  return [{ key: `${key}/${which}`, about: { id, round: 1 }, ...(organizationId === null ? {} : { organizationId }) }];
}

/** @returns undefined when the organization was deleted */
export async function namedOrganization({
  record,
  unit,
}: Pick<BillingContext, 'record' | 'unit'>): Promise<{ readonly name: string } | undefined> {
  const name = await organizationName(record, unit);
  return name === undefined ? undefined : { name };
}

/** The organization, and the page on which people see its plan. @returns undefined when the organization was deleted */
export async function billedOrganization(
  context: BillingContext,
): Promise<{ readonly name: string; readonly url: string } | undefined> {
  const named = await namedOrganization(context);
  return named && { ...named, url: context.links.billingUrl };
}

/** The button to the page of the plan, if there is one. */
export function billingAction(text: string, url: string) {
  return url === '' ? {} : { action: { text, url } };
}

/** Sample of the page. */
export const billingPage = 'https://console.example.com/organization-settings/billing';
