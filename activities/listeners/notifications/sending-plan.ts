import { Temporal } from 'temporal-polyfill';
import type { notificationPreference } from '#entities/notifications/notification-preference.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { lastPeriod, nextPeriod, nextTimeOfDay, timeOfDay, type DigestCadence } from '../../mails/local-time.ts';

export interface Timing extends Pick<
  RowOf<typeof notificationPreference>,
  'cadence' | 'muteUntil' | 'quietHoursStart' | 'quietHoursEnd' | 'isUnsubscribed'
> {
  /** Of the person: where their days and nights begin. */
  readonly timeZone: string;
}

/** Time at which a person gets a notification on a channel. */
export type SendingPlan =
  | { readonly is: 'now' }
  | { readonly is: 'never' }
  /** To be planned again then. */
  | { readonly is: 'later'; readonly at: Date }
  /** With others of this period. */
  | { readonly is: 'collected'; readonly cadence: DigestCadence; readonly period: string };

interface PlannedSending {
  /** Whether the channel has such notifications without a preference. */
  readonly isDefault: boolean;
  /** Time of the notification in the app. */
  readonly toldAt: Date;
  readonly now: Date;
}

/** Decides from the current preference; undefined without one. */
export function sendingPlan(timing: Timing | undefined, { isDefault, toldAt, now }: PlannedSending): SendingPlan {
  if (!timing) return isDefault ? { is: 'now' } : { is: 'never' };
  const { cadence, muteUntil, timeZone, isUnsubscribed } = timing;
  if (cadence === 'mute' || isUnsubscribed) return { is: 'never' };
  if (muteUntil !== null && muteUntil > now) return { is: 'later', at: muteUntil };
  if (cadence !== 'immediate') {
    const { sentAt } = nextPeriod(cadence, timeZone, toldAt);
    if (sentAt > now) return { is: 'later', at: sentAt };
  }
  const quietEnd = quietUntil(timing, now);
  if (quietEnd) return { is: 'later', at: quietEnd };
  if (cadence === 'immediate') return { is: 'now' };
  return { is: 'collected', cadence, period: lastPeriod(cadence, timeZone, now).name };
}

/** The end of the quiet hours that an instant is in. The time of clocks decides, also on days on which they are set. */
function quietUntil({ quietHoursStart, quietHoursEnd, timeZone }: Timing, now: Date): Date | undefined {
  if (quietHoursStart === null || quietHoursEnd === null) return undefined;
  const [start, end] = [Temporal.PlainTime.from(quietHoursStart), Temporal.PlainTime.from(quietHoursEnd)];
  const time = timeOfDay(now, timeZone);
  const isSince = Temporal.PlainTime.compare(time, start) >= 0;
  const isBefore = Temporal.PlainTime.compare(time, end) < 0;
  const isOverMidnight = Temporal.PlainTime.compare(start, end) > 0;
  const isQuiet = isOverMidnight ? isSince || isBefore : isSince && isBefore;
  return isQuiet ? nextTimeOfDay(end, timeZone, now) : undefined;
}
