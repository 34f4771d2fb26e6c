import { expect } from 'vitest';
import { seeded } from '../depth.ts';
import { eventually } from '../eventually.ts';
import type { Random } from '../random.ts';
import { asOwner } from '../as-owner.ts';
import { signedIn, type Person } from '../people.ts';
import type { TestClient } from '../test-client.ts';
import { returnPages, type BilledWorld } from './paying-organization.ts';
import { customerOf, differencesOf, foundOnTrial, sweepBilling } from './reconciled-organization.ts';

const dayMs = 86_400_000;

const plans = ['compliance', 'trust_center', 'risk_management', 'policy_management'] as const;

interface Simulation {
  readonly customers: number;
  readonly months: number;
  /** Number of readings that are compared with the provider. */
  readonly checks: number;
}

/** The owner of an organization, and its customer at the provider. */
interface Subscriber extends Person {
  readonly customer: string;
}

/** How a simulation went. */
export interface Simulated {
  /** Checkouts that were opened and paid. */
  readonly purchases: number;
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
  const subscribers: Subscriber[] = [];
  for (let count = 0; count < customers; count++) {
    const person = await foundOnTrial(billed);
    subscribers.push({ ...person, customer: await customerOf(billed, person.organization.id) });
  }
  let purchases = 0;
  // Some buy at once.
  for (const subscriber of subscribers.slice(0, Math.ceil(customers / 2)))
    if (await purchase(billed, subscriber, ['sandbox_compliance_month', 'sandbox_trust_center_month'])) purchases += 1;
  const steps = checks * 3;
  const stepMs = Math.floor((months * 30 * dayMs) / steps);
  const journey = { random, lost: 0.1, duplicated: 0.2, late: 0.2, isShuffled: true };
  for (let step = 1; step <= steps; step++) {
    for (const subscriber of subscribers)
      if (random.chance(0.4) && (await live(billed, subscriber, random))) purchases += 1;
    world.clock.advance(stepMs);
    fake.advance(0);
    await fake.events.send(journey, 8);
    if (step % 3 > 0) continue;
    await sweepBilling(billed, 'sweep-entitlements');
    await sweepBilling(billed, 'compare-billing');
    for (const { organization } of subscribers) {
      const { id } = organization;
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
  for (const { organization, customer } of subscribers) {
    expect(fake.desk.customersOf(organization.id).map((one) => one.id)).toEqual([customer]);
    expect(fake.ledger.subscriptionsOf(customer).filter(({ metadata }) => metadata['trial_of_server'])).toHaveLength(1);
  }
  const statuses = fake.events.sent.map(({ status }) => status);
  return {
    purchases,
    events: fake.ledger.events.length,
    delivered: statuses.length,
    refused: statuses.filter((status) => status < 200 || status > 299).length,
  };
}

/** Something that a customer does. @returns whether it was a purchase */
async function live(billed: BilledWorld, subscriber: Subscriber, random: Random): Promise<boolean> {
  const { desk, ledger } = billed.fake;
  const { customer } = subscriber;
  const current = ledger.subscriptionsOf(customer).find(({ status }) => status !== 'canceled');
  const keys = plans.filter(() => random.chance(0.5)).map((name) => `sandbox_${name}_month`);
  switch (random.below(10)) {
    case 0:
      desk.addCard(customer);
      break;
    case 1:
      desk.addCard(customer, false);
      break;
    case 2:
      desk.removeCards(customer);
      break;
    case 3:
      desk.failNextPayments(customer, 1 + random.below(4));
      break;
    case 4:
      desk.payOpenInvoices(customer);
      break;
    case 5:
    case 6: {
      const monthly = [...new Set(['sandbox_trust_center_month', ...keys])];
      return purchase(billed, subscriber, random.chance(0.2) ? ['sandbox_compliance_year'] : monthly);
    }
    case 7:
      if (current) desk.setItems(current.id, keys.length > 0 ? keys : ['sandbox_base_month']);
      break;
    case 8:
      await ask(await signedIn(billed.world, subscriber), random.pick(['cancel', 'resume']));
      break;
    default:
      // Somebody uses the provider's dashboard: a subscription ends at once, or another one begins beside it.
      if (current && random.chance(0.3)) desk.cancel(current.id);
      else if (random.chance(0.3)) desk.subscribe(customer, [...keys, 'sandbox_base_month']);
  }
  return false;
}

/** Opens a checkout in two tabs at once, and pays in both of them: one takes the payment. @returns whether there was a checkout */
async function purchase({ world }: BilledWorld, subscriber: Subscriber, prices: readonly string[]): Promise<boolean> {
  const client = await signedIn(world, subscriber);
  const orders = [prices, prices.slice(0, 1)];
  const answers = await Promise.all(orders.map((order) => ask(client, 'checkout', { prices: order })));
  const pages = new Set(answers.flatMap((answer) => answer?.url ?? []));
  const returns: string[] = [];
  for (const page of pages) {
    const body = new URLSearchParams({ card: 'good' });
    const answer = await fetch(page, { method: 'POST', body, redirect: 'manual' });
    const to = answer.headers.get('location');
    if (to !== null) returns.push(to);
    await answer.body?.cancel();
  }
  expect(returns).toEqual(pages.size > 0 ? [`${returnPages.success}&paymentupdate=complete`] : []);
  return pages.size > 0;
}

/** Refusals of owners whose order does not fit what they have, or what the server knows that they have. */
const refusals: readonly string[] = [
  'subscription_exists',
  'rule_violated',
  'payment_refused',
  // Of two checkouts at once, the other one was opened.
  'payment_unavailable',
];

/** Request of an owner. @returns the answer; undefined when it was refused */
async function ask(
  client: TestClient,
  act: 'checkout' | 'cancel' | 'resume',
  body?: object,
): Promise<{ readonly url?: string } | undefined> {
  const answer = await client.post(`/v1/billing/${act}`, body);
  if (answer.status < 300) return answer.body;
  expect(refusals, JSON.stringify(answer.body)).toContain(answer.body.code);
  return undefined;
}
