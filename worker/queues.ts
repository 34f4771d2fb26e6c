import type { Config } from '#config/objects/root.ts';

/** Queue on which all workflow types run. */
export const workflowQueue = 'workflows';

/** An activity queue with the number of activities one process runs of it at the same time. */
export interface ActivityQueueLimit {
  readonly name: string;
  readonly concurrency: number;
}

/** Activities a queue runs at once when `jobqueue.queueconf.Queues` does not say. */
const defaultConcurrency = 10;

/** The activity queues of this release; event delivery has the name the configuration gives it. */
export function activityQueues({ jobqueue, workflows }: Config): readonly ActivityQueueLimit[] {
  const { Queues } = jobqueue.queueconf;
  const queue = (name: string, otherwise = defaultConcurrency) => ({
    name,
    concurrency: Queues[name]?.MaxWorkers ?? otherwise,
  });
  return [queue(workflows.dispatch.queuename, workflows.dispatch.workercount), queue('email'), queue('maintenance')];
}

/** How often the relay of a worker looks for waiting events; the event queue's own settings come first. */
export function pollPauses({ jobqueue, workflows }: Config): {
  readonly maxMs: number;
  readonly cooldownMs: number;
} {
  const { Queues, FetchPollInterval, FetchCooldown } = jobqueue.queueconf;
  const own = Queues[workflows.dispatch.queuename];
  return {
    maxMs: own?.FetchPollInterval || FetchPollInterval,
    cooldownMs: own?.FetchCooldown || FetchCooldown,
  };
}
