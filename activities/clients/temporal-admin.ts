import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { searchAttributes } from '#workflows/kit/search-attributes.ts';
import type { TemporalGateway } from './temporal.ts';

/**
 * Makes the namespace and its search attributes when they are missing. Idempotent; several processes may run it at once.
 * @param retentionMs how long ended workflows stay visible
 * @throws AppError workflows_unavailable
 */
export async function prepareNamespace(gateway: TemporalGateway, retentionMs: number): Promise<void> {
  const { namespace } = gateway.settings;
  const { connection } = gateway;
  const seconds = Math.max(86_400, Math.ceil(retentionMs / 1_000));
  await gateway.call('prepare the namespace', async () => {
    await connection.workflowService
      .registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: seconds as never } })
      .catch(ignoreExisting);
    const held = await untilVisible(() => connection.operatorService.listSearchAttributes({ namespace }));
    const missing = Object.entries(searchAttributes).filter(([name]) => !held.customAttributes?.[name]);
    if (missing.length === 0) return;
    await connection.operatorService
      .addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(
          missing.map(([name, type]) => [name, encodeSearchAttributeIndexedValueType(type) as never]),
        ),
      })
      .catch(ignoreExisting);
  });
}

/** gRPC ALREADY_EXISTS. */
function ignoreExisting(error: unknown): void {
  if ((error as { code?: unknown }).code !== 6) throw error;
}

/** A new namespace is known to all parts of the server only after a moment (gRPC NOT_FOUND until then). */
async function untilVisible<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 5 || attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
