import { Type } from 'typebox';
import { secondFactor } from '#entities/identity/second-factor.ts';
import { user } from '#entities/identity/user.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { defineRoute } from '../../../http/route.ts';
import { endSessions } from '../account/end-sessions.ts';
import { acceptCode, CodeSchema, countCode } from './accept-code.ts';
import { heldFactor } from '../../../credentials/confirmed-factor.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { noteProof } from '../../../credentials/recent-proof.ts';
import { giveRecoveryCodes, RecoveryCodesSchema } from './give-recovery-codes.ts';

/** Turns the factor on. A person who signed in elsewhere without it signs in again. */
export const confirmSecondFactor = defineRoute({
  method: 'POST',
  url: '/v1/2fa/confirm',
  operationId: 'confirmSecondFactor',
  tag: 'Second factors',
  summary: 'Confirm an authenticator app',
  description:
    'Turns on the authenticator app that was set up, with a code of it, and returns the recovery codes, once. From then on each sign-in asks for a code. All other devices of the user are signed out.',
  access: 'required',
  limitClass: 'credential',
  allowsMissingFactor: true,
  body: Type.Object({ code: CodeSchema }, { additionalProperties: false }),
  answers: { 200: RecoveryCodesSchema },
  // It counts the code in a transaction of its own.
  runsOnce: true,
  errors: [
    'invalid_input',
    'permission_denied',
    'not_found',
    'already_exists',
    'invalid_credentials',
    'too_many_requests',
  ],
  handle: async (call) => {
    const { unit, services, body } = call;
    const claims = signedInPerson(call);
    await countCode(call, claims.userId, body);
    const data = unit.data.privileged('confirm second factor');
    await data.findLocked(user, claims.userId);
    const held = await heldFactor(call, claims.userId);
    if (!held) throw new AppError('not_found', 'Set up an authenticator app with POST /v1/2fa/setup first.');
    if (held.confirmedAt) throw new AppError('already_exists', 'Your authenticator app is already confirmed.');
    await acceptCode(call, held, body);
    const { codes } = await giveRecoveryCodes(call, held);
    const confirmed = await data.update(secondFactor, held.id, { confirmedAt: services.clock.now() });
    await noteProof(call, claims);
    await endSessions(data, claims.userId, claims.sessionId);
    unit.emit(customEvent(secondFactor, 'confirmed', confirmed, { userId: claims.userId }));
    return { status: 200, body: { recovery_codes: codes } };
  },
});
