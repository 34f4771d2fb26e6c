import type { Config } from '#config/objects/root.ts';
import { deliveryQueue } from '#workflows/events/deliver-event.contract.ts';
import { webhookQueue, webhookWorkers } from '#workflows/webhooks/deliver-to-endpoint.contract.ts';
import { releaseWorkflows } from './release-workflows.ts';

/** Queue on which all workflow types run. */
export const workflowQueue = 'workflows';

/** An activity queue with the number of its activities that one process runs at the same time. */
interface ActivityQueueLimit {
  /** As configured, without the prefix of the installation. */
  readonly name: string;
  readonly concurrency: number;
}

/** Concurrency of a queue that `jobqueue.queueconf.Queues` does not name. */
const defaultConcurrency = 10;

export function activityQueues({ jobqueue, workflows }: Config): readonly ActivityQueueLimit[] {
  const { Queues } = jobqueue.queueconf;
  const { queuename, workercount } = workflows.dispatch;
  const names = new Set(releaseWorkflows.flatMap(({ contract }) => contract.queue ?? []));
  return [...names].map((queue) => {
    const name = queue === deliveryQueue ? queuename : queue;
    return { name, concurrency: Queues[name]?.MaxWorkers ?? defaultOf(queue, workercount) };
  });
}

function defaultOf(queue: string, workercount: number): number {
  if (queue === deliveryQueue) return workercount;
  return queue === webhookQueue ? webhookWorkers : defaultConcurrency;
}

/** Queues that the configuration names and for which this release has no work. */
export function queuesWithoutWork(config: Config): string[] {
  const names = new Set(activityQueues(config).map(({ name }) => name));
  return Object.keys(config.jobqueue.queueconf.Queues).filter((name) => !names.has(name));
}

/** How often the relay of a worker polls for waiting events; settings of the event queue take precedence. */
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
