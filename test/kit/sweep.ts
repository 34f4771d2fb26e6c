import { ScheduleOverlapPolicy } from '@temporalio/client';
import { eventually } from './eventually.ts';
import type { World } from './world.ts';

/** Runs a schedule's workflow now, as the schedule does, and returns its result. */
export async function runSchedule<Result>(
  { name, runtime }: Pick<World, 'name' | 'runtime'>,
  schedule: string,
): Promise<Result> {
  const { client } = runtime.temporal;
  const handle = client.schedule.getHandle(`${name}/${schedule}`);
  const { info } = await handle.describe();
  // A run of its own, after one that goes on already.
  await handle.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  const action = await eventually(async () => {
    const { recentActions, numActionsTaken } = (await handle.describe()).info;
    return numActionsTaken > info.numActionsTaken && recentActions.at(-1)?.action;
  });
  if (action.type !== 'startWorkflow') throw new Error(`${schedule} starts no workflow`);
  const { workflowId, firstExecutionRunId } = action.workflow;
  return client.workflow.getHandle(workflowId, firstExecutionRunId).result() as Promise<Result>;
}

/** What a sweep found to do. */
export interface SweepResult {
  readonly batches: number;
  readonly deliveries: number;
  readonly tuples: number;
}

/** Finds what was left behind, as it happens every ten seconds. */
export function sweep(world: Pick<World, 'name' | 'runtime'>): Promise<SweepResult> {
  return runSchedule(world, 'sweep-outbox');
}
