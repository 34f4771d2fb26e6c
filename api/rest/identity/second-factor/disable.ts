import { Type } from 'typebox';
import { secondFactor } from '#entities/identity/second-factor.ts';
import { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { endSessions } from '../account/end-sessions.ts';
import { acceptCode, codeFields, countCode, oneOfThem } from './accept-code.ts';
import { confirmedFactor, noFactor } from '../../../credentials/confirmed-factor.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';

/** Nobody else can remove a factor, not even an administrator. A person who has lost the app uses a recovery code. */
export const disableSecondFactor = defineRoute({
  method: 'POST',
  url: '/v1/2fa/disable',
  operationId: 'disableSecondFactor',
  tag: 'Second factors',
  summary: 'Remove the authenticator app',
  description:
    'Removes the second factor with a code of the app or a recovery code; sign-ins no longer ask for a code. All other devices of the user are signed out. Organizations that require a second factor are closed to the user until they set one up again.',
  access: 'required',
  limitClass: 'credential',
  allowsMissingFactor: true,
  body: Type.Object(codeFields, oneOfThem),
  answers: { 200: MessageSchema },
  // It counts the code in a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'permission_denied', 'not_found', 'invalid_credentials', 'too_many_requests'],
  handle: async (call) => {
    const { unit, body } = call;
    const { userId, sessionId } = signedInPerson(call);
    await countCode(call, userId, body);
    const data = unit.data.privileged('remove second factor');
    await data.findLocked(user, userId);
    const factor = await confirmedFactor(call, userId);
    if (!factor) throw noFactor();
    await acceptCode(call, factor, body);
    // A deleted record stays as a row, which keeps no secret.
    const emptied = await data.update(secondFactor, factor.id, { sealedSecret: null, recoveryCodeHashes: null });
    await data.remove(secondFactor, factor.id);
    await endSessions(data, userId, sessionId);
    unit.emit(customEvent(secondFactor, 'removed', emptied, { userId }));
    return { status: 200, body: { message: 'The second factor is removed; all other devices are signed out.' } };
  },
});
