import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { countFailingWork, listFailingWork } from '#entities/kit/outbox/failing-work-list.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';

/** Most items of a kind that are named. */
const namedOfKind = 3;

/** Work that fails or waits, as `npm run verify` prints it. */
export async function failingWorkLines({ database }: Pick<CoreRuntime, 'database'>): Promise<{
  readonly lines: readonly string[];
  /** Whether nothing fails but messages: endpoints of customers fail for their own reasons. */
  readonly isWell: boolean;
}> {
  const context = { caller: systemCaller('verify'), requestId: `verify-${newId()}`, readOnly: true };
  return database.transact(context, async (unit) => {
    const counts = await countFailingWork(unit);
    const lines: string[] = [];
    for (const { kind, count } of counts) {
      lines.push(`${count} of the kind ${kind} fail or wait: npm run work -- list --kind ${kind}`);
      const named = await listFailingWork(unit, { kind }, { limit: namedOfKind });
      lines.push(...named.map(({ id, status, error }) => `  ${id} (${status}): ${error}`));
    }
    return { lines, isWell: counts.every(({ kind }) => kind === 'message') };
  });
}
