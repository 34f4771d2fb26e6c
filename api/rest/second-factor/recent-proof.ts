import { session } from '#entities/identity/session.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import type { Call } from '../../http/route.ts';

/** How long a proof of identity counts for sensitive actions of the same session, in milliseconds. */
const proofLifetimeMs = 10 * 60_000;

/** The claims of a signed-in person; other callers have no second factor. @throws AppError permission_denied */
export function signedInPerson({ unit, request }: Call<unknown>): AccessClaims {
  const { claims } = request.core;
  if (unit.context.caller.kind !== 'user' || !claims)
    throw new AppError('permission_denied', 'Only a person who is signed in can do this.');
  return claims;
}

/**
 * For sensitive actions: refuses unless the person has proven who they are in this session within the last ten minutes, at the sign-in or
 * with `/v1/2fa/step-up`. Whoever has a second factor has proven it then.
 * @throws AppError step_up_required, permission_denied
 */
export async function requireRecentProof(call: Call<unknown>): Promise<void> {
  const { sessionId } = signedInPerson(call);
  const held = await call.unit.data.privileged('recent proof').findOne(session, { id: { eq: sessionId } });
  const ageMs = call.services.clock.now().getTime() - (held?.provenAt?.getTime() ?? 0);
  if (ageMs > proofLifetimeMs)
    throw new AppError(
      'step_up_required',
      'Prove again who you are with POST /v1/2fa/step-up, then repeat this request within ten minutes.',
    );
}

/** Notes that the person has just proven who they are in this session. */
export async function noteProof(call: Call<unknown>, { sessionId }: AccessClaims): Promise<void> {
  await call.unit.data.privileged('recent proof').update(session, sessionId, { provenAt: call.services.clock.now() });
}
