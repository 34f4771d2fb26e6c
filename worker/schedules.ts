import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleOptions,
} from '@temporalio/client';
import type { Logger } from 'pino';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import type { Config } from '#config/objects/root.ts';
import { workflowQueue } from './queues.ts';
import { releaseWorkflows } from './release-workflows.ts';

/** A schedule as it should be. */
export interface WantedSchedule {
  readonly name: string;
  readonly workflow: string;
  readonly input: unknown;
  readonly every?: number;
  readonly cron?: string;
  readonly isPaused: boolean;
}

/** Says in Temporal why a schedule is paused, and distinguishes our pause from one by an operator. */
const pauseNote = 'paused by jobqueue.queueconf.TestOnly';

/**
 * Every schedule there should be: those of the release and those of `jobqueue.queueconf.PeriodicJobs`.
 * @throws ConfigurationError when a periodic job starts a workflow that this release does not have, or has the name of one
 * of its schedules
 */
export function wantedSchedules({ jobqueue }: Config, temporal: TemporalGateway): WantedSchedule[] {
  const { PeriodicJobs, TestOnly: isPaused, SkipUnknownJobCheck, JobCleanerTimeout } = jobqueue.queueconf;
  const workflowTypes = releaseWorkflows.map(({ contract }) => contract.name);
  const unknown = PeriodicJobs.filter(({ workflow }) => !workflowTypes.includes(workflow));
  if (unknown.length > 0 && !SkipUnknownJobCheck) {
    throw new ConfigurationError(
      unknown.map(({ name, workflow }) => ({
        path: 'jobqueue.queueconf.PeriodicJobs',
        where: `schedule ${name}`,
        reason: `starts the workflow ${workflow}, which this release does not have`,
        remedy: `this release has ${workflowTypes.join(', ')}; if another worker serves it, turn on jobqueue.queueconf.SkipUnknownJobCheck`,
      })),
    );
  }
  const own = releaseWorkflows.flatMap(({ contract }) => {
    const { name: workflow, schedule } = contract;
    if (!schedule) return [];
    const given = schedule.input?.({ jobCleanerTimeoutMs: JobCleanerTimeout }) ?? {};
    const input = temporal.inputOf(contract, given);
    return [{ name: contract.workflowId(given), workflow, every: schedule.everyMs, input, isPaused }];
  });
  const names = own.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new TypeError(`two workflows of this release have the schedule "${repeated}"`);
  const taken = PeriodicJobs.filter(({ name }) => own.some((schedule) => schedule.name === name));
  if (taken.length > 0) {
    throw new ConfigurationError(
      taken.map(({ name }) => ({
        path: 'jobqueue.queueconf.PeriodicJobs',
        where: `schedule ${name}`,
        reason: 'has the name of a schedule of this release',
        remedy: 'give it another name',
      })),
    );
  }
  return [
    ...own,
    ...PeriodicJobs.map((job) => ({
      name: job.name,
      workflow: job.workflow,
      input: inputOf(job.input, own.find(({ workflow }) => workflow === job.workflow)?.input),
      ...(typeof job.schedule === 'number' ? { every: job.schedule } : { cron: job.schedule }),
      isPaused,
    })),
  ];
}

/** If the release schedules the same workflow too, properties that the input of the job omits come from that schedule. */
function inputOf(given: unknown, own: object | undefined): unknown {
  return own && (given === undefined || (typeof given === 'object' && given !== null)) ? { ...own, ...given } : given;
}

/**
 * Makes the schedules in Temporal equal to the wanted ones: created, changed, paused, deleted. Schedules of other prefixes
 * are left alone, and so is the pause of an operator. Workers that start together may do so at the same time.
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
    const update = () =>
      schedule.getHandle(options.scheduleId).update(({ state }) => {
        const isOurs = state.note === pauseNote;
        const isPaused = item.isPaused || (state.paused && !isOurs);
        return { ...options, state: { ...state, paused: isPaused, note: noteOf(item.isPaused, isOurs, state.note) } };
      });
    try {
      await update();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      try {
        await schedule.create(options);
        logger.info({ schedule: options.scheduleId }, 'schedule created');
      } catch (race) {
        // Another worker was faster.
        if (!(race instanceof ScheduleAlreadyRunning)) throw race;
        await update();
      }
    }
  }
  const names = new Set(wanted.map((item) => idOf(item.name)));
  for await (const held of schedule.list()) {
    if (!held.scheduleId.startsWith(idOf('')) || names.has(held.scheduleId)) continue;
    try {
      await schedule.getHandle(held.scheduleId).delete();
      logger.info({ schedule: held.scheduleId }, 'schedule deleted');
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  }
}

function noteOf(isPaused: boolean, isOurs: boolean, note: string | undefined): string {
  if (isPaused) return pauseNote;
  return isOurs ? '' : (note ?? '');
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
      workflowTaskTimeout: gateway.workflowTaskTimeoutMs,
      args: item.input === undefined ? [] : [item.input],
    },
    state: { paused: item.isPaused, ...(item.isPaused ? { note: pauseNote } : {}) },
  } satisfies ScheduleOptions;
}
