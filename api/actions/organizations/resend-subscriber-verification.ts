import { maxSendAttempts, subscriber } from '#entities/organizations/subscriber.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { renewVerification } from '../../people/subscriber-verification.ts';
import { message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const resendSubscriberVerification = defineAction({
  name: 'resendSubscriberVerification',
  url: '/v1/subscribers/:id/resend',
  tag: 'Subscribers',
  summary: 'Send the verification e-mail of a subscriber again',
  description: `Sends a new link, which works for 7 days; older links stop working. A subscriber is sent at most ${maxSendAttempts} verification e-mails.`,
  acceptsSingleSignOn: true,
  input: { id: idSchema('Id of the subscriber.') },
  answer: { subscriber: selectableRecord(subscriber), message },
  status: 202,
  errors: ['not_found', 'permission_denied', 'limit_exceeded', 'rule_violated'],
  run: async ({ unit }, { id }) => {
    const wanted = existingId(subscriber, id);
    const held = await unit.data.findLocked(subscriber, wanted);
    if (!held) throw missingRecord(subscriber, wanted);
    if (held.isUnsubscribed || held.isEmailVerified)
      throw new AppError(
        'rule_violated',
        held.isUnsubscribed
          ? 'This subscription has ended. Create a new subscriber with the address, which verifies it again.'
          : 'This address is verified already.',
      );
    const { email } = await renewVerification(unit, unit.data, held, '/id');
    return { subscriber: wanted, message: `The verification e-mail is sent to ${email} again.` };
  },
});
