import { isOperator } from '#entities/kit/access/installation-operators.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Asking } from './asking.ts';
import { confirmedFactor } from './confirmed-factor.ts';
import { requireRecentProof } from './recent-proof.ts';
import { signedInPerson } from './signed-in-person.ts';

/**
 * For what concerns the whole installation: a person to whom `npm run operators` has given it, who is signed in and has a second factor
 * (unless `totp.enabled` is off). Roles of organizations do not matter.
 * @returns the id of the person
 * @throws AppError permission_denied, second_factor_required
 */
export async function requireOperator(call: Asking): Promise<string> {
  const { userId } = signedInPerson(call);
  if (!(await isOperator(call.unit, userId)))
    throw new AppError(
      'permission_denied',
      'Only operators of the installation can do this. People who can start its programs give this right to a user: npm run operators -- grant.',
    );
  if (call.services.config.current.totp.enabled && !(await confirmedFactor(call, userId)))
    throw new AppError(
      'second_factor_required',
      'Operators of the installation need a second factor. Set one up with POST /v1/2fa/setup and POST /v1/2fa/confirm.',
    );
  return userId;
}

/** The same for changes, which need a recent proof as well. @throws AppError permission_denied, second_factor_required, step_up_required */
export async function requireProvenOperator(call: Asking): Promise<string> {
  const userId = await requireOperator(call);
  await requireRecentProof(call);
  return userId;
}
