import { inputError } from '#entities/kit/base/input-error.ts';
import type { WorkKind } from '#entities/kit/outbox/failing-work.ts';
import { listFailingWork, parseWorkPosition, type FailingWork } from '#entities/kit/outbox/failing-work-list.ts';
import type { Asking } from '../credentials/asking.ts';
import { requireOperator } from '../credentials/required-operator.ts';
import { pageSlice } from '../http/response/page-slice.ts';

export { workKinds, type WorkKind } from '#entities/kit/outbox/failing-work.ts';
export { workPosition, type FailingWork } from '#entities/kit/outbox/failing-work-list.ts';

interface WorkArguments {
  readonly kind?: WorkKind | undefined;
  readonly organizationId?: string | undefined;
  readonly after?: string | undefined;
  readonly first?: number | undefined;
}

/** Work of all organizations that fails or waits, the newest first. @throws AppError permission_denied, second_factor_required, invalid_input, limit_exceeded */
export async function workOfInstallation(
  asking: Asking,
  { kind, organizationId, after, first }: WorkArguments,
): Promise<readonly FailingWork[]> {
  await requireOperator(asking);
  const { unit, services } = asking;
  const { size } = pageSlice({ first: first ?? null }, services.config.current.server.maxresultlimit);
  if (after !== undefined && !parseWorkPosition(after))
    throw inputError([{ path: '/after', message: 'must be the position of an item' }]);
  return listFailingWork(
    unit,
    { ...(kind ? { kind } : {}), ...(organizationId ? { organizationId } : {}) },
    { limit: size, ...(after === undefined ? {} : { after }) },
  );
}
