import { session } from '#entities/identity/session.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import type { Call } from '../../http/route.ts';
import { signedInPerson } from '../account/signed-in-person.ts';
import { confirmedFactor } from './confirmed-factor.ts';

/** How long a proof of identity counts for sensitive actions of the same session, in milliseconds. */
const proofLifetimeMs = 10 * 60_000;

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

/**
 * The same for actions that those without a second factor prove in another way, for example with their password. Reads in the unit of
 * work, so it comes after all hashing.
 * @throws AppError step_up_required, permission_denied
 */
export async function requireRecentFactor(call: Call<unknown>): Promise<void> {
  if (await confirmedFactor(call, signedInPerson(call).userId)) await requireRecentProof(call);
}

/** Notes that the person has just proven who they are in this session. */
export async function noteProof(call: Call<unknown>, { sessionId }: AccessClaims): Promise<void> {
  await call.unit.data.privileged('recent proof').update(session, sessionId, { provenAt: call.services.clock.now() });
}
