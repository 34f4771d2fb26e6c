import { endRun, type Run } from '#entities/integrations/runs/end-run.ts';
import { integrationRun } from '#entities/integrations/integration-run.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { InlineOperation, ProviderContext } from '../../clients/integrations/definition.ts';
import { ProviderError } from '../../clients/integrations/provider-error.ts';
import { runningRun, transact, type Advance, type RunDependencies } from './run-work.ts';

/** Most bytes of a result that a run keeps. */
const maxResultBytes = 16_384;

const defaultPauseMs = 2_000;

/** Position of a run whose request may have been sent. */
const asked = 'asked';

const uncertain =
  'Nobody knows whether the other system has done it, so it is not asked again. Look there, and start the operation again if it has not.';

/**
 * Performs an operation that answers at once, at most once: the other system has no key by which it would know a repetition. Only a request
 * that has done nothing for certain is repeated.
 * @throws ProviderError for another attempt, or unauthorized
 */
export async function performOnce(
  dependencies: RunDependencies,
  { run, context }: { readonly run: Run; readonly context: ProviderContext },
  operation: InlineOperation,
): Promise<Advance> {
  if (run.cursor === asked)
    return fail(dependencies, run.id, { code: 'uncertain', message: `An attempt broke off. ${uncertain}` });
  if (!(await note(dependencies, run.id, asked))) return { isDone: true, pauseMs: 0 };
  try {
    const result = await operation.run(context, (run.input ?? {}) as Readonly<Record<string, unknown>>);
    failpoint('integration-operation-performed');
    return await end(dependencies, run.id, async (unit, locked) => {
      const isKept = Buffer.byteLength(JSON.stringify(result)) <= maxResultBytes;
      await endRun(unit, await unit.data.update(integrationRun, locked.id, { result: isKept ? result : null }), {
        status: 'succeeded',
      });
    });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.isPassing && !error.isUndone)
      return fail(dependencies, run.id, { code: error.code, message: `${error.message} ${uncertain}` });
    await note(dependencies, run.id, null);
    if (error.code !== 'rate_limited') throw error;
    return { isDone: false, pauseMs: error.retryAfterMs ?? defaultPauseMs };
  }
}

/** Notes whether the request may have been sent. @returns false for a run that has ended meanwhile */
function note(dependencies: RunDependencies, runId: string, cursor: string | null): Promise<boolean> {
  return transact(dependencies, async (unit) => {
    const locked = await runningRun(unit, runId);
    if (locked) await unit.data.update(integrationRun, runId, { cursor });
    return locked !== undefined;
  });
}

function fail(
  dependencies: RunDependencies,
  runId: string,
  error: { readonly code: string; readonly message: string },
): Promise<Advance> {
  return end(dependencies, runId, (unit, locked) => endRun(unit, locked, { status: 'failed', error }));
}

async function end(
  dependencies: RunDependencies,
  runId: string,
  work: (unit: UnitOfWork, locked: Run) => Promise<void>,
): Promise<Advance> {
  await transact(dependencies, async (unit) => {
    const locked = await runningRun(unit, runId);
    if (locked) await work(unit, locked);
  });
  return { isDone: true, pauseMs: 0 };
}
