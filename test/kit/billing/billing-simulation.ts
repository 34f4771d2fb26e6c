import { expect } from 'vitest';
import { seeded } from '../depth.ts';
import { eventually } from '../eventually.ts';
import type { Random } from '../random.ts';
import { asOwner } from '../as-owner.ts';
import type { BilledWorld } from './paying-organization.ts';
import { customerOf, differencesOf, foundOnTrial, sweepBilling } from './reconciled-organization.ts';

const dayMs = 86_400_000;

const plans = ['compliance', 'trust_center', 'risk_management', 'policy_management'] as const;

interface Simulation {
  readonly customers: number;
  readonly months: number;
  /** Number of readings that are compared with the provider. */
  readonly checks: number;
}

/** How a simulation went. */
export interface Simulated {
  /** Events that the provider has made. */
  readonly events: number;
  /** Requests of the provider that arrived. */
  readonly delivered: number;
  /** Answers other than 2xx. */
  readonly refused: number;
}

/**
 * Lets customers subscribe, upgrade, cancel, resume, pay and fail to pay for months, while events are shuffled, doubled, late and lost. At
 * each check the sweeps run, and then the rows of all organizations are those that follow from what the provider has.
 */
export async function simulateBilling(
  billed: BilledWorld,
  { customers, months, checks }: Simulation,
): Promise<Simulated> {
  const { fake, world } = billed;
  const random = seeded('billing simulation');
  const organizations: { readonly id: string; readonly customer: string }[] = [];
  for (let count = 0; count < customers; count++) {
    const { organization } = await foundOnTrial(billed);
    organizations.push({ id: organization.id, customer: await customerOf(billed, organization.id) });
  }
  const steps = checks * 3;
  const stepMs = Math.floor((months * 30 * dayMs) / steps);
  const journey = { random, lost: 0.1, duplicated: 0.2, late: 0.2, isShuffled: true };
  for (let step = 1; step <= steps; step++) {
    for (const { customer } of organizations) if (random.chance(0.4)) live(billed, customer, random);
    world.clock.advance(stepMs);
    fake.advance(0);
    await fake.events.send(journey, 8);
    if (step % 3 > 0) continue;
    await sweepBilling(billed, 'sweep-entitlements');
    await sweepBilling(billed, 'compare-billing');
    for (const { id } of organizations) {
      await eventually(async () => {
        // More wakes may wait than one sweep of the outbox sends.
        const waiting = await asOwner(world, 'select 1 from workflow_wakes limit 1');
        if (waiting.length > 0) await sweepBilling(billed, 'sweep-entitlements');
        const found = await differencesOf(billed, id);
        if (found.length > 0) throw new Error(`${id}: ${found.join(' ')}`);
        return true;
      });
    }
  }
  for (const { id, customer } of organizations) {
    expect(fake.desk.customersOf(id).map((one) => one.id)).toEqual([customer]);
    expect(fake.ledger.subscriptionsOf(customer).filter(({ metadata }) => metadata['trial_of_server'])).toHaveLength(1);
  }
  const statuses = fake.events.sent.map(({ status }) => status);
  return {
    events: fake.ledger.events.length,
    delivered: statuses.length,
    refused: statuses.filter((status) => status < 200 || status > 299).length,
  };
}

/** Something that a customer does. */
function live({ fake: { desk, ledger } }: BilledWorld, customer: string, random: Random): void {
  const running = ledger.subscriptionsOf(customer).filter(({ status }) => status !== 'canceled');
  const [current] = running;
  const keys = plans.filter(() => random.chance(0.5)).map((name) => `sandbox_${name}_month`);
  switch (random.below(9)) {
    case 0:
      return desk.addCard(customer);
    case 1:
      return desk.addCard(customer, false);
    case 2:
      return desk.removeCards(customer);
    case 3:
      return desk.failNextPayments(customer, 1 + random.below(4));
    case 4:
      return desk.payOpenInvoices(customer);
    case 5:
      // Two checkouts at once.
      for (let count = running.length > 1 ? 0 : 1 + random.below(2); count > 0; count--) {
        desk.addCard(customer);
        desk.subscribe(customer, random.chance(0.2) ? ['sandbox_compliance_year'] : [...keys, 'sandbox_base_month']);
      }
      return undefined;
    case 6:
      return current && desk.setItems(current.id, keys.length > 0 ? keys : ['sandbox_base_month']);
    case 7:
      return current && desk.setCancelAtPeriodEnd(current.id, current.cancelAt === null);
    default:
      return current && random.chance(0.3) ? desk.cancel(current.id) : undefined;
  }
}
