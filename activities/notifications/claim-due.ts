import { newId } from '#entities/kit/base/ids.ts';
import { addDigests, keyOf, type NewDigest } from '#entities/notifications/notification-digest-rows.ts';
import {
  changeSendings,
  claimDueSendings,
  type Sending,
  type SendingChange,
} from '#entities/notifications/notification-sending-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { notificationTopics } from '#entities/notifications/notification-topics.ts';
import { isSentChannel, unknownChannel } from '../mails/channels.ts';
import { readPreferences } from '../listeners/notifications/read-preferences.ts';
import { nextPeriod, type DigestCadence } from '../mails/local-time.ts';
import { sendingPlan, type SendingPlan, type Timing } from '../listeners/notifications/sending-plan.ts';

/** People whose notifications one transaction claims. */
const maxPeople = 200;

/** Numbers of notifications that were planned, and of the messages and digests that are due for them. */
interface ClaimedNotifications {
  readonly due: number;
  readonly single: number;
  readonly digests: number;
}

interface Planned {
  readonly sending: Sending;
  readonly timing: Timing | undefined;
  readonly plan: SendingPlan | { readonly is: 'impossible' };
}

/** Takes the due notifications of some people, and plans them with their current preferences. */
export async function claimDue(unit: UnitOfWork): Promise<ClaimedNotifications> {
  const claimed = await claimDueSendings(unit, maxPeople, notificationTopics);
  if (claimed.length === 0) return { due: 0, single: 0, digests: 0 };
  const preferences = await readPreferences(unit, claimed);
  const now = unit.clock.now();
  const planned = claimed.map((sending): Planned => {
    if (!isSentChannel(sending.channel)) return { sending, timing: undefined, plan: { is: 'impossible' } };
    const timing = preferences.for(sending);
    return { sending, timing, plan: sendingPlan(timing, { ...sending, now }) };
  });
  const immediate = Map.groupBy(
    planned.filter(({ plan }) => plan.is === 'now'),
    ({ sending: { organizationId, userId, channel } }) => [organizationId, userId, channel].join('/'),
  );
  const single = [...immediate.values()].flatMap((those) => (those.length === 1 ? those : [])).map(sendingOf);
  const held = [...immediate.values()].flatMap((those) =>
    those.length > 1 ? heldDigest(those.map(sendingOf), now) : [],
  );
  const collected = [
    ...Map.groupBy(
      planned.flatMap((one) => periodDigest(one, now)),
      keyOf,
    ).values(),
  ];
  const digests = await addDigests(unit, [...collected.flatMap(mergedDigest), ...held]);
  const made = new Set(digests.map(keyOf));
  const changes = [
    ...planned.flatMap(changeOf),
    ...single.map((sending): SendingChange => ({ sending, state: 'planned', dueAt: now })),
    ...collected
      .flat()
      .filter((digest) => !made.has(keyOf(digest)))
      .map(({ planned: one }) => inNextPeriod(one, now)),
  ];
  await changeSendings(unit, changes);
  return { due: claimed.length, single: single.length, digests: digests.length };
}

const sendingOf = ({ sending }: Planned): Sending => sending;

/** Plan for the notifications that are not sent now. */
function changeOf({ sending, plan }: Planned): SendingChange[] {
  if (plan.is === 'impossible') return [{ sending, state: 'failed', error: unknownChannel }];
  if (plan.is === 'never') return [{ sending, state: 'dropped' }];
  return plan.is === 'later' ? [{ sending, state: 'due', dueAt: plan.at }] : [];
}

/** The digest of a day, week or month that one is for. */
function periodDigest(planned: Planned, now: Date): (NewDigest & { readonly planned: Planned })[] {
  const { sending, plan } = planned;
  if (plan.is !== 'collected') return [];
  const { organizationId, userId, channel } = sending;
  const { cadence, period } = plan;
  const id = newId(now.getTime());
  return [{ id, organizationId, userId, channel, cadence, period, sendings: [sending], planned }];
}

/** One digest of those of the same person and period. */
function mergedDigest(digests: readonly NewDigest[]): NewDigest[] {
  const [first] = digests;
  return first ? [{ ...first, sendings: digests.flatMap(({ sendings }) => sendings) }] : [];
}

/** One digest of several that are due at once: they came within a minute, or were held back by quiet hours or a pause. */
function heldDigest(sendings: readonly Sending[], now: Date): NewDigest[] {
  const [first] = sendings;
  if (!first) return [];
  const { organizationId, userId, channel } = first;
  const id = newId(now.getTime());
  return [{ id, organizationId, userId, channel, cadence: 'held', period: id, sendings }];
}

/** The digest of the period is made already: what comes after it is in the next one. */
function inNextPeriod({ sending, timing }: Planned, now: Date): SendingChange {
  if (!timing) return { sending, state: 'dropped' };
  const { sentAt } = nextPeriod(timing.cadence as DigestCadence, timing.timeZone, now);
  return { sending, state: 'due', dueAt: sentAt };
}
