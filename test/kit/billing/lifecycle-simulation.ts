import { expect } from 'vitest';
import { runBillingCommand } from '#tools/commands/billing-commands.ts';
import { asOwner } from '../as-owner.ts';
import { seeded } from '../depth.ts';
import { eventually } from '../eventually.ts';
import { buildPart } from '../people.ts';
import { runSchedule } from '../sweep.ts';
import type { BilledWorld } from './paying-organization.ts';
import { billingOf, differencesOf, sweepBilling } from './reconciled-organization.ts';
import { settingsOf, unpaidOrganizations } from './unpaid-organization.ts';

const dayMs = 86_400_000;
const interval = 'CORE_INTEGRATIONS_PAYMENTREMINDER_PAYMENTMETHODINTERVAL';
const deletion = 'CORE_INTEGRATIONS_PAYMENTREMINDER_DELETIONDAYS';
const notices = ['marked', 'three_days', 'one_day'] as const;

interface Simulation {
  readonly organizations: number;
  readonly days: number;
}

/** An organization as the model knows it: what happened to it, and what must follow. */
interface Known {
  readonly id: string;
  readonly customer: string;
  readonly bornMs: number;
  readonly childId: string | undefined;
  subscription: string | undefined;
  hasCard: boolean;
  /** End of its grant; undefined without one. */
  grantedUntilMs: number | undefined;
  mark: { readonly atMs: number; notBeforeMs: number } | undefined;
  isDeleted: boolean;
  /** Events, in their order. */
  readonly letters: string[];
}

export interface SimulatedLifecycle {
  readonly deleted: number;
  readonly spared: number;
  readonly missedRuns: number;
}

/**
 * Lets days pass for organizations that pay, stop paying, get cards and grants and are postponed, while settings change and runs are missed.
 * After each day the rows and the events are those of a model that knows what happened and nothing of the code.
 */
export async function simulateLifecycle(
  billed: BilledWorld,
  { organizations, days }: Simulation,
): Promise<SimulatedLifecycle> {
  const { world, fake } = billed;
  const random = seeded('lifecycle simulation');
  let [intervalDays, deletionDays] = [10, 7];
  let [spared, missedRuns] = [0, 0];
  await world.reconfigure({ [interval]: String(intervalDays), [deletion]: String(deletionDays) });
  const known: Known[] = [];
  for (const [index, id] of (await unpaidOrganizations(world, organizations)).entries()) {
    const childId = index % 5 === 0 ? (await buildPart(world, id)).id : undefined;
    const customer = await eventually(async () => (await billingOf(billed, id)).customerId ?? undefined);
    known.push({
      id,
      customer,
      bornMs: world.clock.now().getTime(),
      childId,
      subscription: undefined,
      hasCard: false,
      grantedUntilMs: undefined,
      mark: undefined,
      isDeleted: false,
      letters: [],
    });
  }
  const nowMs = () => world.clock.now().getTime();
  const isPaid = (one: Known) =>
    one.hasCard || one.subscription !== undefined || (one.grantedUntilMs !== undefined && one.grantedUntilMs > nowMs());
  const dueMs = (mark: NonNullable<Known['mark']>) => Math.max(mark.atMs + deletionDays * dayMs, mark.notBeforeMs);
  const spare = (one: Known) => {
    if (one.mark && isPaid(one)) {
      one.mark = undefined;
      one.letters.push('spared');
      spared += 1;
    }
  };

  /** Something happens to an organization, and to the model. */
  async function happen(one: Known): Promise<void> {
    const grant = (name: 'grant' | 'revoke', endsAt: Date | null) =>
      runBillingCommand(
        { name, organizationId: one.id, module: 'registry', endsAt },
        { runtime: world.runtime, print: () => {} },
      );
    switch (random.below(8)) {
      case 0:
        if (!one.hasCard) fake.desk.addCard(one.customer);
        one.hasCard = true;
        break;
      case 1:
      case 2:
        // Without a card nothing is renewed: a subscription ends with it.
        if (one.subscription !== undefined) fake.desk.cancel(one.subscription);
        fake.desk.removeCards(one.customer);
        one.subscription = undefined;
        one.hasCard = false;
        break;
      case 3:
        if (one.hasCard && one.subscription === undefined)
          one.subscription = fake.desk.subscribe(one.customer, ['sandbox_compliance_month']).id;
        break;
      case 4: {
        const endsAt = random.chance(0.3) ? null : new Date(nowMs() + (1 + random.below(9)) * dayMs);
        if (one.grantedUntilMs === undefined && (await grant('grant', endsAt)))
          one.grantedUntilMs = endsAt?.getTime() ?? Infinity;
        break;
      }
      case 5:
      case 6:
        if (one.grantedUntilMs !== undefined) await grant('revoke', null);
        one.grantedUntilMs = undefined;
        break;
      default:
        if (!one.mark) break;
        one.mark.notBeforeMs += (1 + random.below(5)) * dayMs;
        await settingsOf(world, one.id, { deletionNotBefore: new Date(one.mark.notBeforeMs) });
    }
  }

  function remind(): void {
    for (const one of known.filter(({ isDeleted }) => !isDeleted)) {
      spare(one);
      if (!one.mark) {
        if (isPaid(one) || nowMs() - one.bornMs <= intervalDays * dayMs) continue;
        one.mark = { atMs: nowMs(), notBeforeMs: nowMs() + deletionDays * dayMs };
        one.letters.push('marked');
        continue;
      }
      const leftDays = (dueMs(one.mark) - nowMs()) / dayMs;
      if (leftDays <= 0) continue;
      const due = leftDays <= 1 ? 2 : leftDays <= 3 ? 1 : 0;
      const sinceMark = one.letters.slice(one.letters.lastIndexOf('marked'));
      const sent = Math.max(...sinceMark.map((letter) => notices.indexOf(letter as (typeof notices)[number])));
      if (due <= sent) continue;
      one.mark.notBeforeMs = dueMs(one.mark);
      one.letters.push(notices[due] ?? '');
    }
  }

  function remove(): void {
    for (const one of known.filter(({ isDeleted }) => !isDeleted)) {
      spare(one);
      if (one.mark && dueMs(one.mark) <= nowMs()) {
        one.isDeleted = true;
        one.letters.push('deleted');
      }
    }
  }

  async function compare(day: number): Promise<void> {
    const rows = await asOwner<{
      id: string;
      isDeleted: boolean;
      child: boolean | null;
      at: Date | null;
      before: Date | null;
      letters: string[];
    }>(
      world,
      `select o.id, o.deleted_at is not null as "isDeleted", c.deleted_at is not null as child, s.marked_for_deletion_at as at,
         s.deletion_not_before as before,
         array(select case when e.topic = 'organization.marked_for_deletion' then 'marked'
             when e.topic = 'organization.deletion_nearing' then e.payload ->> 'notice' else split_part(e.topic, '.', 2) end
           from events e where e.entity_id = o.id
             and e.topic ~ '^organization\\.(marked_for_deletion|deletion_nearing|spared|deleted)$' order by e.id) as letters
       from organizations o left join organizations c on c.parent_id = o.id
         left join organization_settings s on s.organization_id = o.id and s.deleted_at is null
       where o.id = any($1) order by o.id`,
      [known.map(({ id }) => id)],
    );
    const expected = known.map((one) => ({
      id: one.id,
      isDeleted: one.isDeleted,
      child: one.childId === undefined ? false : one.isDeleted,
      at: one.isDeleted || !one.mark ? null : new Date(one.mark.atMs),
      before: one.isDeleted || !one.mark ? null : new Date(one.mark.notBeforeMs),
      letters: one.letters,
    }));
    expect(rows, `day ${day}`).toEqual(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  }

  for (let day = 1; day <= days; day++) {
    world.clock.advance(dayMs);
    fake.advance(0);
    const live = known.filter(({ isDeleted }) => !isDeleted);
    for (const one of live) if (random.chance(0.15)) await happen(one);
    if (random.chance(0.1)) {
      intervalDays = 5 + random.below(10);
      deletionDays = 2 + random.below(9);
      await world.reconfigure({ [interval]: String(intervalDays), [deletion]: String(deletionDays) });
    }
    await fake.events.send({ random, duplicated: 0.2, isShuffled: true }, 4);
    await sweepBilling(billed, 'sweep-entitlements');
    await sweepBilling(billed, 'compare-billing');
    for (const one of live) {
      await eventually(async () => {
        // Rows of grants that are over stay.
        const found = (await differencesOf(billed, one.id)).filter((line) => !line.includes('(granted)'));
        if (found.length === 0) return true;
        // More wakes may wait than one sweep of the outbox sends.
        const waiting = await asOwner(world, 'select 1 from workflow_wakes limit 1');
        if (waiting.length > 0) await sweepBilling(billed, 'sweep-entitlements');
        throw new Error(`${one.id}: ${found.join(' ')}`);
      });
      spare(one);
    }
    await compare(day);
    // In an outage no run begins.
    if (random.chance(0.15)) {
      missedRuns += 1;
      continue;
    }
    await runSchedule(world, 'remind-payment-method');
    remind();
    await runSchedule(world, 'delete-overdue-organizations');
    remove();
    await compare(day);
  }
  return { deleted: known.filter(({ isDeleted }) => isDeleted).length, spared, missedRuns };
}
