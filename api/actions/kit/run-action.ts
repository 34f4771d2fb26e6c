import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { isId } from '#entities/kit/base/ids.ts';
import type { Asking } from '../../credentials/asking.ts';
import { tooManyAttempts } from '../../http/limits/too-many-attempts.ts';
import type { Action, Answer, ResultOf } from './define-action.ts';

/**
 * Counts the use, and runs the handler of an action: what exceeds a limit causes no work. Errors undo the count with the unit of work.
 * @param input checked by its schemas
 * @throws AppError as the action says; too_many_requests
 */
export async function runAction(
  { definition }: Action,
  asking: Asking,
  input: Readonly<Record<string, unknown>>,
): Promise<ResultOf<Answer>> {
  const { name, limits = [] } = definition;
  const { unit } = asking;
  for (const { per, uses, windowMs, exceeded } of limits) {
    const owner = per === 'record' ? input['id'] : unit.context.caller.organizationId;
    // A malformed id matches no record, so the handler refuses it.
    if (per === 'record' && !isId(owner)) continue;
    const key = `${name}:${per}/${String(owner)}`;
    const freeAt = await takeAttempt(unit, [{ key, limit: uses }], windowMs);
    if (freeAt) throw tooManyAttempts(exceeded, freeAt, unit.clock.now());
  }
  return definition.run(asking, input);
}
