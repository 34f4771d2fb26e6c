import { session } from '#entities/identity/session.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { AccessClaims } from '../auth/access-token.ts';
import { signInFirst } from '../http/plugins/sign-in-first.ts';
import type { Asking } from './asking.ts';
import { signedInPerson } from './signed-in-person.ts';
import { confirmedFactor } from './confirmed-factor.ts';

/** Time for which a proof of identity is valid for sensitive actions of the same session, in milliseconds. */
const proofLifetimeMs = 10 * 60_000;

// A proof is a sign-in or `/v1/2fa/step-up` of the same session within the last ten minutes; whoever has a second factor has proven it
// then. A sign-in with single sign-on is none, except where `requireOrganizationProof` says so: its provider is run by one organization.
// Code that changes credentials locks the user before: a session that ended meanwhile proves nothing. All of it is read in the unit of
// work, so it comes after all hashing.

/**
 * For sensitive actions on the account: everybody needs a recent proof.
 * @throws AppError step_up_required, permission_denied, unauthenticated
 */
export async function requireRecentProof(call: Asking): Promise<void> {
  refuseStale(await ownSession(call), call);
}

/**
 * For sensitive actions on one organization: everybody needs a recent proof, or a recent sign-in with its single sign-on.
 * @throws AppError step_up_required, permission_denied, unauthenticated
 */
export async function requireOrganizationProof(call: Asking): Promise<void> {
  const held = await ownSession(call);
  // It is valid only in the organization of the provider and its parts, so that is where this is asked.
  const isFresh = held.singleSignOnId !== null && ageOf(held.createdAt, call) <= proofLifetimeMs;
  if (!isFresh) refuseStale(held, call);
}

/**
 * For actions for which the session, or the password that they ask for, is proof enough without a second factor: people with one need a
 * recent proof.
 * @throws AppError step_up_required, permission_denied
 */
export async function requireRecentFactor(call: Asking): Promise<void> {
  if (await confirmedFactor(call, signedInPerson(call).userId)) await requireRecentProof(call);
}

/**
 * For what gives access to the whole account: people with a second factor, and sessions of single sign-on, need a recent proof.
 * @throws AppError step_up_required, permission_denied
 */
export async function requireAccountProof(call: Asking): Promise<void> {
  const held = await ownSession(call);
  if (held.singleSignOnId !== null || (await confirmedFactor(call, signedInPerson(call).userId)))
    refuseStale(held, call);
}

/** The session of the caller. @throws AppError permission_denied for callers without one, unauthenticated once it has ended */
export async function ownSession(call: Asking): Promise<RowOf<typeof session>> {
  const { sessionId } = signedInPerson(call);
  const held = await call.unit.data.privileged('recent proof').findOne(session, { id: { eq: sessionId } });
  if (!held) throw signInFirst();
  return held;
}

function refuseStale({ provenAt }: RowOf<typeof session>, call: Asking): void {
  if (ageOf(provenAt, call) > proofLifetimeMs)
    throw new AppError(
      'step_up_required',
      'This needs a proof of your identity that is at most ten minutes old. Call POST /v1/2fa/step-up in this session, with code (of your authenticator app) or recovery_code, or with password if you have no second factor; then repeat this request.',
    );
}

/** Milliseconds since then. */
function ageOf(time: Date | null, { services }: Asking): number {
  return services.clock.now().getTime() - (time?.getTime() ?? 0);
}

/** Notes that the person has just proven who they are in this session. */
export async function noteProof(call: Asking, { sessionId }: AccessClaims): Promise<void> {
  await call.unit.data.privileged('recent proof').update(session, sessionId, { provenAt: call.services.clock.now() });
}
