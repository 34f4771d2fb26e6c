import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import type { Asking } from '../../credentials/asking.ts';
import { tooManyAttempts } from '../../http/limits/too-many-attempts.ts';
import type { Action, Answer, ResultOf } from './define-action.ts';

/**
 * Runs the handler of an action, and counts the use.
 * @param input checked by its schemas
 * @throws AppError as the action says; too_many_requests
 */
export async function runAction(
  { definition }: Action,
  asking: Asking,
  input: Readonly<Record<string, unknown>>,
): Promise<ResultOf<Answer>> {
  const { name, limits = [] } = definition;
  const result = await definition.run(asking, input);
  const { unit } = asking;
  for (const { per, uses, windowMs, exceeded } of limits) {
    const owner = per === 'record' ? input['id'] : unit.context.caller.organizationId;
    const key = `${name}:${per}/${String(owner)}`;
    const freeAt = await takeAttempt(unit, [{ key, limit: uses }], windowMs);
    if (freeAt) throw tooManyAttempts(exceeded, freeAt, unit.clock.now());
  }
  return result;
}
