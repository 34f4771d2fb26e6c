import { setTimeout as pause } from 'node:timers/promises';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleOptions,
} from '@temporalio/client';
import type { Logger } from 'pino';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { Config } from '#config/objects/root.ts';
import { workflowQueue } from './queues.ts';
import { releaseWorkflows } from './release-workflows.ts';

interface WantedSchedule {
  readonly name: string;
  readonly workflow: string;
  readonly input: unknown;
  readonly every: number | string;
  readonly isPaused: boolean;
}

/** Says in Temporal why a schedule is paused, and distinguishes our pause from one by an operator. */
const pauseNote = 'paused by the configuration';

/**
 * Every schedule there should be: those of the release and those of `jobqueue.queueconf.PeriodicJobs`.
 * @throws ConfigurationError when a periodic job starts a workflow that this release does not have, or has the name of one
 * of its schedules
 */
export function wantedSchedules(config: Config, temporal: TemporalGateway): WantedSchedule[] {
  const { jobqueue } = config;
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
  const own = releaseWorkflows.flatMap(({ contract, sweep }) => {
    const { name: workflow, schedule } = contract;
    if (!schedule) return [];
    const given = schedule.input?.({ jobCleanerTimeoutMs: JobCleanerTimeout }) ?? {};
    const input = temporal.inputOf(contract, given);
    const { every = schedule.every, isEnabled = true } = sweep?.settings?.(config) ?? {};
    return [{ name: contract.workflowId(given), workflow, every, input, isPaused: isPaused || !isEnabled }];
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
      every: job.schedule,
      isPaused,
    })),
  ];
}

/** If the release schedules the same workflow too, properties that the input of the job omits come from that schedule. */
function inputOf(given: unknown, own: object | undefined): unknown {
  return own && (given === undefined || (typeof given === 'object' && given !== null)) ? { ...own, ...given } : given;
}

/** Pause after a change that could not be made, for example because Temporal cannot be reached, in milliseconds. */
const retryMs = 5_000;

/**
 * Keeps the schedules in Temporal as the configuration wants them: now, and after each reload.
 * @param wanted at the start
 * @throws AggregateError when some of them cannot be changed at the start; after a reload, they are tried again
 * @returns ends that, after the change that is under way
 */
export async function keepSchedules(
  config: ConfigStore,
  wanted: readonly WantedSchedule[],
  { temporal, logger }: { readonly temporal: TemporalGateway; readonly logger: Logger },
): Promise<() => Promise<void>> {
  await convergeSchedules(temporal, wanted, logger);
  let applied = JSON.stringify(wanted);
  // Schedules that this process may have made; more than one list while a change fails.
  let own = wanted;
  const stopping = new AbortController();
  const apply = async (): Promise<void> => {
    while (!stopping.signal.aborted)
      try {
        const next = wantedSchedules(config.current, temporal);
        if (JSON.stringify(next) !== applied) {
          own = own.concat(next);
          await convergeSchedules(temporal, next, logger, own);
          own = next;
        }
        applied = JSON.stringify(next);
        return;
      } catch (error) {
        logger.error({ err: error }, 'the schedules could not be changed as the reloaded configuration says');
        if (error instanceof ConfigurationError) return;
        await pause(retryMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      }
  };
  // A reload since `wanted` was made has called no subscriber.
  let running = apply();
  const unsubscribe = config.subscribe('', () => {
    running = running.then(apply);
  });
  return () => {
    unsubscribe();
    stopping.abort();
    return running;
  };
}

/**
 * Makes the schedules in Temporal equal to the wanted ones: created, changed, paused, deleted. Schedules of other prefixes
 * are left alone, and so is the pause of an operator. Workers that start together may do so at the same time.
 * @param own after a reload: those of this process, of which alone some are deleted, because workers of another release have others
 * @throws AggregateError when some could not be changed, after all others were
 */
async function convergeSchedules(
  gateway: TemporalGateway,
  wanted: readonly WantedSchedule[],
  logger: Logger,
  own?: readonly WantedSchedule[],
): Promise<void> {
  const { schedule } = gateway.client;
  const idOf = (name: string) => `${gateway.settings.prefix}/${name}`;
  const failures: unknown[] = [];
  /** A schedule that cannot be changed keeps no other from it. */
  const each = async (scheduleId: string, change: () => Promise<void>): Promise<void> => {
    try {
      await change();
    } catch (error) {
      logger.error({ err: error, schedule: scheduleId }, 'a schedule could not be changed');
      failures.push(error);
    }
  };
  for (const item of wanted) {
    const options = optionsOf(item, idOf(item.name), gateway);
    const update = () =>
      schedule.getHandle(options.scheduleId).update(({ state }) => {
        const isOurs = state.note === pauseNote;
        // The pause of an operator stays, whatever the configuration says.
        if (state.paused && !isOurs) return { ...options, state };
        return {
          ...options,
          state: { ...state, ...options.state, ...(isOurs || item.isPaused ? {} : { note: state.note }) },
        };
      });
    await each(options.scheduleId, async () => {
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
    });
  }
  const names = new Set(wanted.map((item) => idOf(item.name)));
  for await (const { scheduleId } of own?.map(({ name }) => ({ scheduleId: idOf(name) })) ?? schedule.list()) {
    if (!scheduleId.startsWith(idOf('')) || names.has(scheduleId)) continue;
    await each(scheduleId, async () => {
      try {
        await schedule.getHandle(scheduleId).delete();
        logger.info({ schedule: scheduleId }, 'schedule deleted');
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      }
    });
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} schedules could not be changed`);
}

/** Runs that were missed for longer are not made up for, in milliseconds: Temporal accepts no shorter time, and does not say how often a cron expression matches. */
const [minCatchupMs, cronCatchupMs] = [10_000, 86_400_000];

/** Of the runs that an outage prevented, the last one is made up for. */
function catchupWindow(every: number | string): number {
  return typeof every === 'number' ? Math.max(every, minCatchupMs) : cronCatchupMs;
}

function optionsOf(item: WantedSchedule, scheduleId: string, gateway: TemporalGateway) {
  const { every } = item;
  return {
    scheduleId,
    spec: typeof every === 'number' ? { intervals: [{ every }] } : { cronExpressions: [every] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchupWindow(every) },
    action: {
      type: 'startWorkflow' as const,
      workflowType: item.workflow,
      workflowId: scheduleId,
      taskQueue: gateway.taskQueue(workflowQueue),
      workflowTaskTimeout: gateway.workflowTaskTimeoutMs,
      args: item.input === undefined ? [] : [item.input],
    },
    state: { paused: item.isPaused, note: item.isPaused ? pauseNote : '' },
  } satisfies ScheduleOptions;
}
