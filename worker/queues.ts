import type { Config } from '#config/root.ts';

/** Queue on which all workflow types run. */
export const workflowQueue = 'workflows';

/** An activity queue with the number of activities one process runs of it at the same time. */
export interface ActivityQueue {
  readonly name: string;
  readonly concurrency: number;
}

/** Activities a queue runs at once when `jobqueue.queueconf.Queues` does not say. */
const defaultConcurrency = 10;

/** The activity queues of this release; event delivery has the name the configuration gives it. */
export function activityQueues({ jobqueue, workflows }: Config): readonly ActivityQueue[] {
  const { Queues } = jobqueue.queueconf;
  const queue = (name: string, otherwise = defaultConcurrency) => ({
    name,
    concurrency: Queues[name]?.MaxWorkers ?? otherwise,
  });
  return [queue(workflows.dispatch.queuename, workflows.dispatch.workercount), queue('email'), queue('maintenance')];
}
