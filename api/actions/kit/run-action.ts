import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { refuseWithoutPaymentMethod } from '#entities/kit/model/module-gate.ts';
import { isId } from '#entities/kit/base/ids.ts';
import type { Asking } from '../../credentials/asking.ts';
import { tooManyAttempts } from '../../http/limits/too-many-attempts.ts';
import { workOf } from '../../http/request-context.ts';
import type { Action, Answer, ResultOf } from './define-action.ts';

/**
 * Counts the use, and runs the handler of an action: what exceeds a limit causes no work. Errors undo the count with the unit of work. A call
 * of another system is made between two transactions.
 * @param input checked by its schemas
 * @throws AppError as the action says; payment_method_required, too_many_requests
 */
export async function runAction(
  { definition }: Action,
  asking: Asking,
  input: Readonly<Record<string, unknown>>,
): Promise<ResultOf<Answer>> {
  const { outside } = definition;
  if (!outside) {
    await countUse(definition, asking.unit, input);
    return definition.run(asking, input, undefined);
  }
  const { services, request } = asking;
  // The unit of work of the request has not begun: the field stands alone, and keys of idempotency are refused.
  const plan = await services.database.transact(workOf(request.core), async (unit) => {
    await countUse(definition, unit, input);
    return outside.prepare({ services, request, unit }, input);
  });
  return definition.run(asking, input, await outside.call(services, plan));
}

async function countUse(
  { name, limits = [], needsPaymentMethod }: Action['definition'],
  unit: Asking['unit'],
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (needsPaymentMethod) refuseWithoutPaymentMethod(unit.context.caller);
  for (const { per, uses, windowMs, exceeded } of limits) {
    const owner = per === 'record' ? input['id'] : unit.context.caller.organizationId;
    // A malformed id matches no record, so the handler refuses it.
    if (per === 'record' && !isId(owner)) continue;
    const key = `${name}:${per}/${String(owner)}`;
    const freeAt = await takeAttempt(unit, [{ key, limit: uses }], windowMs);
    if (freeAt) throw tooManyAttempts(exceeded, freeAt, unit.clock.now());
  }
}
