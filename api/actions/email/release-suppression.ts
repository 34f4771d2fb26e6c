import { Type } from 'typebox';
import { emailSuppression } from '#entities/email/email-suppression.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const releaseEmailSuppression = defineAction({
  name: 'releaseEmailSuppression',
  url: '/v1/email-suppressions/:id/release',
  tag: 'Email suppressions',
  summary: 'Release an address',
  description:
    'E-mails of the organization are sent to the address again, also by the provider if it has suppressed it. The reason stays in the record.',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  input: {
    id: idSchema('Id of the suppression.'),
    reason: Type.String({ minLength: 3, maxLength: 500, description: 'Why the address is released.' }),
  },
  answer: { emailSuppression: selectableRecord(emailSuppression), message },
  errors: ['not_found', 'permission_denied', 'rule_violated'],
  run: async ({ unit, services }, { id: wanted, reason }) => {
    const id = existingId(emailSuppression, wanted);
    const held = await unit.data.findLocked(emailSuppression, id);
    if (!held) throw missingRecord(emailSuppression, id);
    const released = await unit.data.update(emailSuppression, id, {
      releasedAt: held.releasedAt ?? services.clock.now(),
      releaseReason: held.releaseReason ?? reason,
    });
    if (held.releasedAt !== null) throw new AppError('rule_violated', 'This address was released already.');
    unit.emit(customEvent(emailSuppression, 'released', released, {}));
    return { emailSuppression: id, message: `E-mails are sent to ${held.email} again.` };
  },
});
