import { notification } from '#entities/notifications/notification.ts';
import { dueSendingsOf } from '#entities/kit/outbox/notification-sendings.ts';
import { defineListener, on } from '../listener.ts';
import { sentChannel } from './channels.ts';

/** Sends what is not to wait. The notification is committed by now, so whatever is started finds it. */
export const sendNotification = defineListener(
  'send-notification',
  [on(notification, 'created')],
  async ({ event, unit, start }) => {
    for (const sending of await dueSendingsOf(unit, event.entityId))
      sentChannel(sending.channel).sendOne(sending, start);
  },
);
