import { user } from '#entities/identity/user.ts';
import { sendSystemMessageContract } from '#workflows/identity/send-system-message.contract.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener, type Listener } from '../listener.ts';

/** Notifies the operator of a new user, if the operator has a chat. */
export const notifyNewUser: Listener = {
  ...defineListener('notify-new-user', [on(user, 'confirmed')], ({ event, key, start }) => {
    start(sendSystemMessageContract, { key, about: { message: 'new-user', userId: event.entityId } });
  }),
  isWanted: ({ hasChat }) => hasChat,
};
