import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener } from './listener.ts';

export const mailWelcome = defineListener('mail-welcome', ({ event, key, start, taskQueue }) => {
  start(sendEmailContract, { taskQueue: taskQueue('email'), key, kind: 'welcome', userId: event.entityId });
});
