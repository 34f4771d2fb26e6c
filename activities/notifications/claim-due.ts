import { newId } from '#entities/kit/base/ids.ts';
import {
  addDigests,
  claimLeftDigests,
  keyOf,
  type Digest,
  type NewDigest,
} from '#entities/kit/outbox/notification-digests.ts';
import {
  changeSendings,
  claimDueSendings,
  type Sending,
  type SendingChange,
} from '#entities/kit/outbox/notification-sendings.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { readPreferences } from '../listeners/notifications/read-preferences.ts';
import { nextPeriod, type DigestCadence } from '../listeners/notifications/local-time.ts';
import { sendingPlan, type Timing } from '../listeners/notifications/sending-plan.ts';

/** People whose notifications one transaction claims. */
const maxPeople = 200;

/** After this time without a beginning, a message is started once more, in milliseconds. */
const patienceMs = 15 * 60_000;

/** What a transaction has claimed; its messages are started after the commit. */
export interface ClaimedNotifications {
  readonly due: number;
  readonly single: readonly Sending[];
  readonly digests: readonly Digest[];
}

interface Planned {
  readonly sending: Sending;
  readonly timing: Timing | undefined;
}

/** Takes what is due to some people, and plans it with their preferences of now. */
export async function claimDue(unit: UnitOfWork): Promise<ClaimedNotifications> {
  const claimed = await claimDueSendings(unit, maxPeople);
  if (claimed.length === 0) return { due: 0, single: [], digests: [] };
  const preferences = await readPreferences(unit, claimed);
  const now = unit.clock.now();
  const again = new Date(now.getTime() + patienceMs);
  const changes: SendingChange[] = [];
  const immediate = new Map<string, Sending[]>();
  const collected = new Map<string, NewDigest & { readonly planned: Planned[] }>();
  for (const sending of claimed) {
    const timing = preferences.for(sending);
    const plan = sendingPlan(timing, { ...sending, now });
    if (plan.is === 'never') changes.push({ sending, state: 'dropped' });
    if (plan.is === 'later') changes.push({ sending, state: 'due', dueAt: plan.at });
    const { organizationId, userId, channel } = sending;
    if (plan.is === 'now') {
      const person = [organizationId, userId, channel].join('/');
      immediate.set(person, [...(immediate.get(person) ?? []), sending]);
    }
    if (plan.is === 'collected') {
      const of = { organizationId, userId, channel, cadence: plan.cadence, period: plan.period };
      const planned = [...(collected.get(keyOf(of))?.planned ?? []), { sending, timing }];
      collected.set(keyOf(of), {
        id: newId(now.getTime()),
        ...of,
        sendings: planned.map((one) => one.sending),
        planned,
      });
    }
  }
  const single = [...immediate.values()].flatMap((sendings) => (sendings.length === 1 ? sendings : []));
  changes.push(...single.map((sending): SendingChange => ({ sending, state: 'due', dueAt: again })));
  const held = [...immediate.values()].flatMap((sendings) => (sendings.length > 1 ? heldDigest(sendings, now) : []));
  const digests = await addDigests(unit, [...collected.values(), ...held], again);
  const made = new Set(digests.map(keyOf));
  for (const digest of collected.values())
    if (!made.has(keyOf(digest))) changes.push(...digest.planned.map((one) => inNextPeriod(one, now)));
  await changeSendings(unit, changes);
  return { due: claimed.length, single, digests };
}

/** Several that were held back until now are told together. */
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

/** Takes digests whose messages were not started, because the process that made them died. */
export function claimLeft(unit: UnitOfWork): Promise<Digest[]> {
  return claimLeftDigests(unit, maxPeople, new Date(unit.clock.now().getTime() + patienceMs));
}
