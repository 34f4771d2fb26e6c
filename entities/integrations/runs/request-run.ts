import { integrationRun } from '../integration-run.ts';
import type { integration } from '../integration.ts';
import { AppError } from '../../kit/base/errors.ts';
import type { RowOf } from '../../kit/model/define.ts';
import type { DataClient } from '../../kit/unit/data-client.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import { endRun, type Run } from './end-run.ts';

export interface RunRequest {
  readonly integration: Pick<RowOf<typeof integration>, 'id' | 'organizationId'>;
  /** Name of the operation. */
  readonly operation: string;
  /** It answers at once, so several of its runs can be open. */
  readonly isInline?: boolean;
  readonly trigger: Run['trigger'];
  /** Checked against the schema of the operation. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Workflow instance that requests it. */
  readonly instanceId?: string;
}

/** Integration and operation of a run that is open. */
function openKeyOf(integrationId: string, operation: string): string {
  return `${integrationId}/${operation}`;
}

/** The run of an operation that is open. Those of operations that answer at once are not looked for: several can be. */
export function openRun(data: DataClient, integrationId: string, operation: string): Promise<Run | undefined> {
  return data.findOne(integrationRun, { openKey: { eq: openKeyOf(integrationId, operation) } });
}

/**
 * Requests a run of an operation; a workflow begins it after the commit, or its loop. A run that waits for a confirmation gives way, because
 * the new one sees what the other system has now.
 * @param unit of the request, or of the server; the caller's right to start it was checked
 * @throws AppError rule_violated while the operation is running for the integration
 */
export async function requestRun(unit: UnitOfWork, request: RunRequest): Promise<Run> {
  const { integration: owner, operation, isInline = false, trigger, input, instanceId } = request;
  const data = unit.data.privileged('request integration run');
  const open = isInline ? undefined : await openRun(data, owner.id, operation);
  const held = open && (await data.findLocked(integrationRun, open.id));
  if (held && held.endedAt === null) {
    if (held.status !== 'waiting')
      throw new AppError(
        'rule_violated',
        `The operation "${operation}" of this integration is ${held.status} already, as run ${held.id}. Wait for its end, or cancel it with POST /v1/integration-runs/${held.id}/cancel.`,
      );
    const error = {
      code: 'superseded',
      message:
        'A newer run reads the other system again. It waits for a confirmation of its own if it would remove as much.',
    };
    await endRun(unit, held, { status: 'cancelled', error });
  }
  return data.create(integrationRun, {
    organizationId: owner.organizationId,
    integrationId: owner.id,
    operationName: operation,
    trigger,
    input: input ?? null,
    instanceId: instanceId ?? null,
    openKey: isInline ? null : openKeyOf(owner.id, operation),
  });
}
