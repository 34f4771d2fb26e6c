import { AppError } from '#entities/kit/base/errors.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { readableFields } from '#entities/kit/model/exposure.ts';
import { readRequestTrace, type RequestTrace, type TracedChange } from '#entities/kit/outbox/request-trace.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Asking } from '../credentials/asking.ts';
import { requireOperator } from '../credentials/required-operator.ts';
import { managedOrganization } from './organization-events.ts';

export interface ShownTrace extends RequestTrace {
  /** Whether it is that of all organizations, for an operator of the installation. */
  readonly ofAll: boolean;
}

/**
 * Changes and events that a request has caused, for managers in their organization and for operators of the installation everywhere. The
 * request of another organization is answered as one that does not exist.
 * @throws AppError permission_denied, not_found
 */
export async function traceOfRequest(asking: Asking, requestId: string): Promise<ShownTrace> {
  const ofAll = await isOperator(asking);
  const { unit } = asking;
  const organizationId = ofAll ? null : managedOrganization(unit);
  const { request, changes, events } = await readRequestTrace(unit, requestId, organizationId);
  if (changes.length + events.length === 0)
    throw new AppError(
      'not_found',
      `There is no trace of a request "${shortened(requestId)}" that you may see. ${ofAll ? ofOperators : ofManagers}`,
    );
  return { ofAll, request, changes: changes.map((change) => withShownFields(unit, change)), events };
}

const ofOperators =
  'Requests that changed nothing and caused no event have no trace; events are deleted after a time, changes are kept for longer.';
/** The same whether or not another organization has the request. */
const ofManagers = 'Traces show only the organization in which you act; POST /v1/switch acts in another one.';

/** Names of fields that nobody can read are left out. */
function withShownFields({ registry }: Pick<UnitOfWork, 'registry'>, change: TracedChange): TracedChange {
  const module = registry.modules.find(({ topic }) => topic === change.kind);
  const readable = new Set(module ? readableFields(module).map(([name]) => name) : []);
  return { ...change, changedFields: change.changedFields.filter((name) => readable.has(name)) };
}

/** A caller who is refused as an operator may be a manager. */
async function isOperator(asking: Asking): Promise<boolean> {
  try {
    await requireOperator(asking);
    return true;
  } catch (error) {
    if (error instanceof AppError && ['permission_denied', 'second_factor_required'].includes(error.code)) return false;
    throw error;
  }
}
