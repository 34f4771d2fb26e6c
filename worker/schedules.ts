import { ScheduleNotFoundError, ScheduleOverlapPolicy, type ScheduleOptions } from '@temporalio/client';
import type { Logger } from 'pino';
import type { TemporalGateway } from '#activities/clients/temporal.ts';
import type { Config } from '#config/root.ts';
import { pruneRecordsContract } from '#workflows/maintenance/prune-records.contract.ts';
import { sweepOutboxContract } from '#workflows/maintenance/sweep-outbox.contract.ts';
import { workflowQueue } from './queues.ts';

/** A workflow that starts by itself, as configured. */
export interface WantedSchedule {
  readonly name: string;
  readonly workflow: string;
  readonly input: unknown;
  readonly every?: number;
  readonly cron?: string;
  readonly isPaused: boolean;
}

/** Every schedule there should be: those of the release and those of `jobqueue.queueconf.PeriodicJobs`. */
export function wantedSchedules(config: Config, taskQueue: (name: string) => string): WantedSchedule[] {
  const { PeriodicJobs, TestOnly } = config.jobqueue.queueconf;
  const maintenance = { input: { taskQueue: taskQueue('maintenance') }, isPaused: TestOnly };
  return [
    { name: 'sweep-outbox', workflow: sweepOutboxContract.name, every: 10_000, ...maintenance },
    { name: 'prune-records', workflow: pruneRecordsContract.name, every: 3_600_000, ...maintenance },
    ...PeriodicJobs.map((job) => ({
      name: job.name,
      workflow: job.workflow,
      input: job.input,
      ...(typeof job.schedule === 'number' ? { every: job.schedule } : { cron: job.schedule }),
      isPaused: TestOnly,
    })),
  ];
}

/**
 * Makes the schedules in Temporal equal to the wanted ones: created, changed, paused, deleted. Schedules of other prefixes
 * are left alone.
 */
export async function convergeSchedules(
  gateway: TemporalGateway,
  wanted: readonly WantedSchedule[],
  logger: Logger,
): Promise<void> {
  const { schedule } = gateway.client;
  const idOf = (name: string) => `${gateway.settings.prefix}/${name}`;
  for (const item of wanted) {
    const options = optionsOf(item, idOf(item.name), gateway);
    const handle = schedule.getHandle(options.scheduleId);
    try {
      await handle.update((held) => ({ ...options, state: { ...held.state, paused: item.isPaused } }));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      await schedule.create(options);
      logger.info({ schedule: options.scheduleId }, 'schedule created');
    }
  }
  const names = new Set(wanted.map((item) => idOf(item.name)));
  for await (const held of schedule.list()) {
    if (!held.scheduleId.startsWith(idOf('')) || names.has(held.scheduleId)) continue;
    await schedule.getHandle(held.scheduleId).delete();
    logger.info({ schedule: held.scheduleId }, 'schedule deleted');
  }
}

function optionsOf(item: WantedSchedule, scheduleId: string, gateway: TemporalGateway) {
  return {
    scheduleId,
    spec: item.cron === undefined ? { intervals: [{ every: item.every ?? 0 }] } : { cronExpressions: [item.cron] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' as const },
    action: {
      type: 'startWorkflow' as const,
      workflowType: item.workflow,
      workflowId: scheduleId,
      taskQueue: gateway.taskQueue(workflowQueue),
      args: item.input === undefined ? [] : [item.input],
    },
    state: { paused: item.isPaused },
  } satisfies ScheduleOptions;
}
