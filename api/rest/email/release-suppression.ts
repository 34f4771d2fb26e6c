import { Type } from 'typebox';
import { emailSuppression } from '#entities/email/email-suppression.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { MessageSchema, idSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { recordNames } from '../records/record-names.ts';

const { path, tag } = recordNames(emailSuppression);

export const releaseSuppression = defineRoute({
  method: 'POST',
  url: `${path}/:id/release`,
  operationId: 'releaseEmailSuppression',
  tag,
  summary: 'Release an address',
  description:
    'E-mails of the organization are sent to the address again, also by the provider if it has suppressed it. The reason stays in the record.',
  access: 'required',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  params: Type.Object({ id: idSchema('Id of the suppression.') }),
  body: Type.Object(
    { reason: Type.String({ minLength: 3, maxLength: 500, description: 'Why the address is released.' }) },
    { additionalProperties: false },
  ),
  answers: { 200: MessageSchema },
  errors: ['not_found', 'permission_denied', 'rule_violated'],
  handle: async ({ unit, params, body, services }) => {
    const id = existingId(emailSuppression, params['id'] ?? '');
    const held = await unit.data.findLocked(emailSuppression, id);
    if (!held) throw missingRecord(emailSuppression, id);
    const released = await unit.data.update(emailSuppression, id, {
      releasedAt: held.releasedAt ?? services.clock.now(),
      releaseReason: held.releaseReason ?? body.reason,
    });
    if (held.releasedAt !== null) throw new AppError('rule_violated', 'This address was released already.');
    unit.emit(customEvent(emailSuppression, 'released', released, {}));
    return { status: 200, body: { message: `E-mails are sent to ${held.email} again.` } };
  },
});
