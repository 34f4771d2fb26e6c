import { Type } from 'typebox';
import { email } from '#entities/email/email.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { MessageSchema, idSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { tooManyAttempts } from '../../http/limits/too-many-attempts.ts';
import { recordNames } from '../records/record-names.ts';

const { path, tag } = recordNames(email);

const dayMs = 86_400_000;

/** E-mails that are sent again within a day: the same one to the same recipient, and all of an organization. */
const limits = { same: 5, organization: 500 } as const;

export const resendEmail = defineRoute({
  method: 'POST',
  url: `${path}/:id/resend`,
  operationId: 'resendEmail',
  tag,
  summary: 'Send an e-mail again',
  description: `Sends it to the same recipient once more, as a further e-mail with current content. An e-mail whose content is no longer true is not sent, and suppressed addresses get none. The same e-mail is sent again at most ${limits.same} times within 24 hours.`,
  access: 'required',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  params: Type.Object({ id: idSchema('Id of the e-mail.') }),
  answers: { 202: MessageSchema },
  errors: ['not_found', 'permission_denied', 'rule_violated', 'too_many_requests'],
  handle: async ({ unit, params, services }) => {
    const id = existingId(email, params['id'] ?? '');
    const held = await unit.data.findLocked(email, id);
    if (!held) throw missingRecord(email, id);
    const resent = await unit.data.update(email, id, { resentAt: services.clock.now() });
    if (held.status === 'pending' || held.status === 'sending' || held.status === 'waiting')
      throw new AppError('rule_violated', `This e-mail is still to be sent (${held.status}); wait for its end.`);
    const { organizationId, template, aboutId, recipientId } = held;
    const full = await takeAttempt(
      unit,
      [
        { key: `resend:${organizationId}/${template}/${aboutId}/${recipientId}`, limit: limits.same },
        { key: `resend-of:${organizationId}`, limit: limits.organization },
      ],
      dayMs,
    );
    if (full) throw tooManyAttempts('E-mails were sent again too often', full, services.clock.now());
    unit.emit(customEvent(email, 'resent', resent, {}));
    return { status: 202, body: { message: 'The e-mail is sent again.' } };
  },
});
