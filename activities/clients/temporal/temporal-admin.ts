import { setTimeout as pause } from 'node:timers/promises';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import type { Config } from '#config/objects/root.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { searchAttributes } from '#workflows/kit/search-attributes.ts';
import type { TemporalGateway } from './temporal-client.ts';

/** Temporal keeps ended workflows for an hour at least. */
const minRetentionSeconds = 3_600;

/** How long ended workflows stay visible: Temporal has one retention per namespace, so the longest that is configured. */
export function workflowRetentionMs({ queueconf }: Config['jobqueue']): number {
  return Math.max(
    queueconf.CompletedJobRetentionPeriod,
    queueconf.CancelledJobRetentionPeriod,
    queueconf.DiscardedJobRetentionPeriod,
  );
}

/**
 * Creates the namespace and its search attributes where they are missing, and sets the retention. Idempotent; several
 * processes may run it at once.
 * @param retentionMs how long ended workflows stay visible
 * @throws AppError workflows_unavailable
 */
export async function prepareNamespace(gateway: TemporalGateway, retentionMs: number): Promise<void> {
  const { namespace } = gateway.settings;
  const { connection } = gateway;
  const seconds = Math.max(minRetentionSeconds, Math.ceil(retentionMs / 1_000));
  const retention = { seconds: seconds as never };
  await gateway.call('prepare the namespace', async () => {
    await connection.workflowService
      .registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention })
      .catch(ignoreExisting);
    const missing = await untilVisible(() => missingSearchAttributes(gateway));
    if (missing.length > 0) {
      await connection.operatorService
        .addSearchAttributes({
          namespace,
          searchAttributes: Object.fromEntries(
            missing.map(([name, type]) => [name, encodeSearchAttributeIndexedValueType(type) as never]),
          ),
        })
        .catch(ignoreExisting);
    }
    const { config } = await untilVisible(() => connection.workflowService.describeNamespace({ namespace }));
    if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) !== seconds) {
      await connection.workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: retention },
      });
    }
  });
}

/**
 * Lists the changes that `prepareNamespace` would make, for installations whose Temporal is set up by others.
 * @returns a line for each thing that is missing or cannot be read
 * @throws AppError workflows_unavailable
 */
export async function checkNamespace(gateway: TemporalGateway): Promise<string[]> {
  const { namespace } = gateway.settings;
  const remedy = 'create it, or turn on jobqueue.runmigrations';
  try {
    const missing = await gateway.call('read the namespace', () => missingSearchAttributes(gateway));
    return missing.map(
      ([name, type]) => `the namespace ${namespace} has no search attribute ${name} of type ${type}; ${remedy}`,
    );
  } catch (error) {
    if (isAppError(error)) throw error;
    if (isNotFound(error)) return [`Temporal has no namespace ${namespace}; ${remedy}`];
    return [`the search attributes of the namespace ${namespace} cannot be read: ${(error as Error).message}`];
  }
}

async function missingSearchAttributes({ connection, settings: { namespace } }: TemporalGateway) {
  const held = await connection.operatorService.listSearchAttributes({ namespace });
  return Object.entries(searchAttributes).filter(([name]) => !held.customAttributes?.[name]);
}

/** gRPC ALREADY_EXISTS. */
function ignoreExisting(error: unknown): void {
  if ((error as { code?: unknown }).code !== 6) throw error;
}

/** gRPC NOT_FOUND. */
function isNotFound(error: unknown): boolean {
  return (error as { code?: unknown }).code === 5;
}

/** Repeats a read until all parts of the server know a namespace that was just created. */
async function untilVisible<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!isNotFound(error) || attempt === 50) throw error;
      await pause(50);
    }
  }
}
