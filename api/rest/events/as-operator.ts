import { requireProvenOperator, type requireOperator } from '../../credentials/required-operator.ts';
import { workOf } from '../../http/request-context.ts';
import type { Call } from '../../http/route.ts';

type OperatorCall = Pick<Call<unknown>, 'services' | 'request'>;

/**
 * Decides whether an operator of the installation makes the request, in a transaction of its own: the route works in others.
 * @returns the id of the person
 * @throws AppError as `require`
 */
export function asOperator({ services, request }: OperatorCall, require: typeof requireOperator): Promise<string> {
  return services.database.transact(workOf(request.core), (unit) => require({ unit, services, request }));
}

/** An operator with a recent proof, and the reason of the request. @throws AppError as `requireProvenOperator` */
export async function askedByOperator(
  call: OperatorCall & { readonly body: { readonly reason: string } },
): Promise<{ readonly operator: string; readonly reason: string }> {
  const userId = await asOperator(call, requireProvenOperator);
  return { operator: `user:${userId}`, reason: call.body.reason.trim() };
}
