import { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { changeSendings, lockSending, type SendingChange } from '#entities/notifications/notification-sending-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SentChannelName } from '../../mails/channels.ts';
import { outdatedAmong } from './outdated-notifications.ts';
import { readPreferences } from './read-preferences.ts';
import { recipientIn, visibleTo, type Recipient } from './recipient.ts';
import { sendingPlan } from './sending-plan.ts';

/** A notification that is sent to its recipient now. */
interface CurrentNotification extends Recipient {
  readonly told: RowOf<typeof notification>;
}

/**
 * The notification of a message of its own, at each attempt to send it, with the current rights and preferences. It is the message's from
 * then on, unless the attempt cannot be made: what comes later then has another round.
 * @param round of the message
 * @returns undefined for a message that is not sent
 */
export async function settleSending(
  unit: UnitOfWork,
  channel: SentChannelName,
  { id, round }: { readonly id: string; readonly round: number },
): Promise<CurrentNotification | undefined> {
  const sending = await lockSending(unit, id, channel);
  if (!sending || sending.round !== round || (sending.state !== 'planned' && sending.state !== 'sent'))
    return undefined;
  const end = async (change: Omit<SendingChange, 'sending'>) => {
    await changeSendings(unit, [{ sending, ...change }]);
    return undefined;
  };
  const told = await unit.data.findOne(notification, { id: { eq: id } });
  const recipient = await recipientIn(unit, sending);
  // Read in the app meanwhile, hidden with its record, or no longer true of it.
  if (!told || told.isRead || !recipient || (await visibleTo(recipient, unit, [told])).length === 0)
    return end({ state: 'dropped' });
  if ((await outdatedAmong(unit, recipient, [told])).has(told.id)) return end({ state: 'dropped' });
  const preference = (await readPreferences(unit, [sending])).for(sending);
  const now = unit.clock.now();
  const plan = sendingPlan(preference, { ...sending, now });
  switch (plan.is) {
    case 'never':
      return end({ state: 'dropped' });
    case 'later':
      return end({ state: 'due', dueAt: plan.at, isNextRound: true });
    case 'collected':
      return end({ state: 'due', dueAt: now, isNextRound: true });
    case 'now':
      if (sending.state === 'planned') await changeSendings(unit, [{ sending, state: 'sent' }]);
      return { ...recipient, told };
    default:
      plan satisfies never;
      throw new TypeError('unknown plan');
  }
}

/** Ends a message of its own that nothing has sent, whatever has kept it from being settled. @param round of the message */
export async function dropSending(
  unit: UnitOfWork,
  channel: SentChannelName,
  { id, round }: { readonly id: string; readonly round: number },
): Promise<void> {
  const sending = await lockSending(unit, id, channel);
  if (sending?.round === round && sending.state === 'planned')
    await changeSendings(unit, [{ sending, state: 'dropped' }]);
}
