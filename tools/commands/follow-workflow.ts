import { setTimeout as pause } from 'node:timers/promises';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { StartInput, WorkflowContract } from '#workflows/kit/contract.ts';
import type { SearchValues } from '#workflows/kit/search-attributes.ts';

interface FollowOptions<Result> {
  readonly temporal: TemporalGateway;
  readonly print: (line: string) => void;
  readonly progressEveryMs?: number | undefined;
  /** Answer of the query `progress`; no progress is shown without it. */
  readonly progressLine?: ((progress: Result) => string) | undefined;
  /** Called when the workflow was running already. */
  readonly whenFound?: () => Promise<void>;
  readonly search?: SearchValues;
}

/**
 * Starts a workflow, or finds it running, shows its progress, and waits for its result. An interruption does not stop the workflow.
 * @throws AppError workflows_unavailable
 */
export async function followWorkflow<Result, Input>(
  contract: WorkflowContract<Input>,
  input: StartInput<Input>,
  options: FollowOptions<Result>,
): Promise<Result> {
  const { temporal, print, whenFound, search = {} } = options;
  const isNew = await temporal.start(contract, input, { repeat: 'again', search });
  const workflowId = temporal.workflowId(contract, input);
  if (!isNew) await whenFound?.();
  print(isNew ? `started ${workflowId}` : `${workflowId} runs already; following it`);
  const handle = temporal.client.workflow.getHandle(workflowId);
  const ended = new AbortController();
  const query = () => handle.query<Result>('progress');
  const shown = options.progressLine ? showProgress(query, options, ended.signal) : Promise.resolve();
  try {
    return (await handle.result()) as Result;
  } finally {
    ended.abort();
    await shown;
  }
}

async function showProgress<Result>(
  query: () => Promise<Result>,
  { print, progressEveryMs = 2_000, progressLine }: FollowOptions<Result>,
  signal: AbortSignal,
): Promise<void> {
  for (let last = ''; !signal.aborted;) {
    await pause(progressEveryMs, undefined, { signal }).catch(() => {});
    if (signal.aborted || !progressLine) return;
    // While a run is handed over to the next one, no answer comes; the result does.
    const progress = await query().catch(() => undefined);
    const line = progress && progressLine(progress);
    if (line !== undefined && line !== last) print(line);
    last = line ?? last;
  }
}
