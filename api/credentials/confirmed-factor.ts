import { secondFactor } from '#entities/identity/second-factor.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { Asking } from './asking.ts';

export type Factor = RowOf<typeof secondFactor>;

/** The factor that a person is asked for: confirmed, and while `totp.enabled` is on. Code that relies on it has locked the user. */
export async function confirmedFactor(call: Asking, userId: string): Promise<Factor | undefined> {
  if (!call.services.config.current.totp.enabled) return undefined;
  const held = await heldFactor(call, userId);
  return held?.confirmedAt ? held : undefined;
}

/** The factor of a person, confirmed or not. */
export function heldFactor({ unit }: Pick<Asking, 'unit'>, userId: string): Promise<Factor | undefined> {
  return unit.data.privileged('second factor').findOne(secondFactor, { userId: { eq: userId } });
}

export function noFactor(): AppError {
  return new AppError('not_found', 'You have no second factor. Set one up with POST /v1/2fa/setup.');
}
