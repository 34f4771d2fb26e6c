import { email } from '#entities/email/email.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { tooManyAttempts } from '../../http/limits/too-many-attempts.ts';
import { message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const dayMs = 86_400_000;
const exceeded = 'E-mails were sent again too often';

/** How often the same e-mail is sent to the same recipient again within a day, whichever of its copies is named. */
const maxResends = 5;

export const resendEmail = defineAction({
  name: 'resendEmail',
  url: '/v1/emails/:id/resend',
  tag: 'Emails',
  summary: 'Send an e-mail again',
  description: `Sends it to the same recipient once more, as a further e-mail with current content. An e-mail whose content is no longer true is not sent, and suppressed addresses get none. The same e-mail is sent again at most ${maxResends} times within 24 hours.`,
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  limits: [{ per: 'organization', uses: 500, windowMs: dayMs, exceeded }],
  input: { id: idSchema('Id of the e-mail.') },
  answer: { email: selectableRecord(email), message },
  status: 202,
  errors: ['not_found', 'permission_denied', 'rule_violated'],
  run: async ({ unit, services }, { id: wanted }) => {
    const id = existingId(email, wanted);
    const held = await unit.data.findLocked(email, id);
    if (!held) throw missingRecord(email, id);
    const resent = await unit.data.update(email, id, { resentAt: services.clock.now() });
    if (held.status === 'pending' || held.status === 'sending' || held.status === 'waiting')
      throw new AppError('rule_violated', `This e-mail is still to be sent (${held.status}); wait for its end.`);
    const { organizationId, template, aboutId, recipientId } = held;
    const key = `resend:${organizationId}/${template}/${aboutId}/${recipientId}`;
    const full = await takeAttempt(unit, [{ key, limit: maxResends }], dayMs);
    if (full) throw tooManyAttempts(exceeded, full, services.clock.now());
    unit.emit(customEvent(email, 'resent', resent, {}));
    return { email: id, message: 'The e-mail is sent again.' };
  },
});
