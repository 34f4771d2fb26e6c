import { notification } from '#entities/notifications/notification.ts';
import { dueSendingsOf } from '#entities/kit/outbox/notification-sendings.ts';
import { defineListener, on } from '../listener.ts';
import { isSentChannel, sentChannel } from './channels.ts';

/** Sends what is not to wait. The notification is committed by now, so whatever is started finds it. */
export const sendNotification = defineListener(
  'send-notification',
  [on(notification, 'created')],
  async ({ event, unit, start }) => {
    for (const sending of await dueSendingsOf(unit, event.entityId))
      // One that this release does not have is set aside when it is claimed.
      if (isSentChannel(sending.channel)) sentChannel(sending.channel).sendOne(sending, start);
  },
);
