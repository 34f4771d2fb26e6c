import { ScheduleOverlapPolicy } from '@temporalio/client';
import { eventually } from './eventually.ts';
import type { World } from './world.ts';

/** The run whose result was returned last, by the id of its schedule. A description of a schedule may lag behind it. */
const returned = new Map<string, string>();

/** Runs a schedule's workflow now, as the schedule does, and returns its result. */
export async function runSchedule<Result>(
  { name, runtime }: Pick<World, 'name' | 'runtime'>,
  schedule: string,
): Promise<Result> {
  const { client } = runtime.temporal;
  const id = `${name}/${schedule}`;
  const handle = client.schedule.getHandle(id);
  const newest = async () => {
    const { recentActions } = (await handle.describe()).info;
    const action = recentActions.at(-1)?.action;
    return action?.type === 'startWorkflow' ? action.workflow : undefined;
  };
  const before = await newest();
  // A run of its own, after one that is already running.
  await handle.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  const { workflowId, firstExecutionRunId } = await eventually(async () => {
    const started = await newest();
    const isNew = ![before?.firstExecutionRunId, returned.get(id), undefined].includes(started?.firstExecutionRunId);
    return isNew && started;
  });
  returned.set(id, firstExecutionRunId);
  return client.workflow.getHandle(workflowId, firstExecutionRunId).result() as Promise<Result>;
}

/** Work that a sweep found. */
export interface SweepResult {
  readonly batches: number;
  readonly deliveries: number;
  readonly tuples: number;
}

/** Finds what was left behind, as it happens every ten seconds. */
export function sweep(world: Pick<World, 'name' | 'runtime'>): Promise<SweepResult> {
  return runSchedule(world, 'sweep-outbox');
}

/** Keeps a schedule from starting runs by itself, for a test that counts what one run of it does. */
export function pauseSchedule({ name, runtime }: Pick<World, 'name' | 'runtime'>, schedule: string): Promise<void> {
  return runtime.temporal.client.schedule.getHandle(`${name}/${schedule}`).pause();
}
