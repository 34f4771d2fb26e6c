import { maxSendAttempts, subscriber } from '#entities/organizations/subscriber.ts';
import { resendVerification } from '../../people/subscriber-verification.ts';
import { recordAct } from '../derived/record-act.ts';

/** Hand-written, because it raises `round`, which nobody may set. */
export const resendSubscriberVerification = recordAct({
  module: subscriber,
  name: 'resendSubscriberVerification',
  description: `Sends a new link to verify the address, which works for 7 days; older links stop working. A subscriber is sent at most ${maxSendAttempts} verification e-mails.`,
  about: 'Id of the subscriber.',
  act: resendVerification,
});
