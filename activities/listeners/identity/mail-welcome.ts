import { user } from '#entities/identity/user.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from '../listener.ts';

export const mailWelcome = defineListener('mail-welcome', [on(user, 'confirmed')], ({ event, key, start }) => {
  start(sendEmailContract, { key, template: 'welcome', userId: event.entityId });
});
