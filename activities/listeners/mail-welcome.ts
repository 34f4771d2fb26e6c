import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener } from './listener.ts';

export const mailWelcome = defineListener('mail-welcome', ({ event, key, start, activityQueue }) => {
  start(sendEmailContract, { queue: activityQueue('email'), key, kind: 'welcome', userId: event.entityId });
});
