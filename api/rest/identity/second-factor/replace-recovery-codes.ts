import { secondFactor } from '#entities/identity/second-factor.ts';
import { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { defineRoute } from '../../../http/route.ts';
import { confirmedFactor, noFactor } from '../../../credentials/confirmed-factor.ts';
import { giveRecoveryCodes, RecoveryCodesSchema } from './give-recovery-codes.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { requireRecentProof } from '../../../credentials/recent-proof.ts';

export const replaceRecoveryCodes = defineRoute({
  method: 'POST',
  url: '/v1/2fa/recovery-codes',
  operationId: 'replaceRecoveryCodes',
  tag: 'Second factors',
  summary: 'Get new recovery codes',
  description:
    'Returns new recovery codes, once; the previous ones no longer work. The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  access: 'required',
  limitClass: 'credential',
  allowsMissingFactor: true,
  answers: { 200: RecoveryCodesSchema },
  errors: ['permission_denied', 'step_up_required', 'not_found'],
  handle: async (call) => {
    const { userId } = signedInPerson(call);
    await call.unit.data.privileged('replace recovery codes').findLocked(user, userId);
    await requireRecentProof(call);
    const factor = await confirmedFactor(call, userId);
    if (!factor) throw noFactor();
    const { codes, changed } = await giveRecoveryCodes(call, factor);
    call.unit.emit(customEvent(secondFactor, 'recovery_codes_replaced', changed, { userId }));
    return { status: 200, body: { recovery_codes: codes } };
  },
});
