import { isUnknownWorkflow, type TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { wakeRow } from '#entities/kit/due-work/due-rows.ts';
import { copiesDue } from '#entities/kit/objects/copies-due.ts';
import { recordRepair, type Repair } from '#entities/kit/outbox/delivery-repairs.ts';
import { endFailure } from '#entities/kit/outbox/failing-work.ts';
import { listFailingWork, type FailingWork } from '#entities/kit/outbox/failing-work-list.ts';
import { endWakes, hastenWake } from '#entities/kit/outbox/workflow-wakes.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import {
  runWorkflowInstanceContract,
  skipActionSignalName,
} from '#workflows/automation/run-workflow-instance.contract.ts';
import { removeOrganizationContract, skipStepSignal } from '#workflows/organizations/remove-organization.contract.ts';
import { restoreOrganizationContract } from '#workflows/organizations/restore-organization.contract.ts';
import { defaultPerSecond, EventRepairs, type RepairParts, type RepairRequest } from './event-repairs.ts';

export type WorkOperation = 'retry' | 'stop';

/** Ids of copies that could not be made, and of wakes of workflows that Temporal refuses. */
const [copyPrefix, wakePrefix] = ['copy.', 'wake.'];

type Asked = RepairRequest['asked'];

/** Effect of an operation on work, in words; null for nothing. */
export function actionsOn({
  id,
  kind,
  status,
  workflowId,
  workflowType,
  activity,
}: FailingWork): Readonly<Record<WorkOperation, string | null>> {
  if (id.startsWith('delivery.'))
    return {
      retry: status === 'held' ? null : 'The delivery is tried again now.',
      stop: 'The delivery is given up; later events of the record follow.',
    };
  if (id.startsWith(copyPrefix)) return { retry: 'The next attempt to copy the file begins now.', stop: null };
  if (id.startsWith(wakePrefix))
    return {
      retry: 'Its workflow is woken by the next sweep.',
      stop: 'Its workflow is not woken, and it is listed no more.',
    };
  if (workflowId === null) return { retry: null, stop: null };
  // Temporal tries it again by itself; only other code helps.
  if (status === 'failing' && activity === null)
    return { retry: null, stop: 'Its workflow is terminated, and it is listed no more.' };
  if (status === 'failing')
    return {
      retry: 'The next attempt begins now; the work is listed again when it has failed five times more.',
      stop:
        workflowType === restoreOrganizationContract.name || unskippable.has(activity ?? '')
          ? null
          : isRemovalStep({ workflowType })
            ? `The step is skipped: the removal continues, and what ${activity} does is left to you.`
            : isInstanceStep({ workflowType })
              ? 'The action is skipped: the workflow of the organization continues with the next one.'
              : 'Its workflow is cancelled, and it is listed no more.',
    };
  const isTransfer = kind === 'export' || kind === 'import';
  return {
    // Its record says that it has failed; whoever wants it starts another one.
    retry: isTransfer ? null : 'Its workflow begins again.',
    stop: 'It is listed no more until it fails again.',
  };
}

/** Activities of removals without which something of the organization would stay. */
const unskippable: ReadonlySet<string> = new Set(['beginRemoval', 'skipRemovalStep', 'removeContents']);

/** Steps of a removal continue without each other, so one is skipped instead of all. */
function isRemovalStep({ workflowType }: Pick<FailingWork, 'workflowType'>): boolean {
  return workflowType === removeOrganizationContract.name;
}

/** Instances of definitions continue without an action that fails. */
function isInstanceStep({ workflowType }: Pick<FailingWork, 'workflowType'>): boolean {
  return workflowType === runWorkflowInstanceContract.name;
}

/** Operations on failing work for operators, at the command line and over REST. */
export class WorkRepairs {
  readonly #temporal: TemporalGateway;
  readonly #database: RepairParts['database'];
  readonly #events: EventRepairs;

  constructor(parts: RepairParts) {
    this.#temporal = parts.temporal;
    this.#database = parts.database;
    this.#events = new EventRepairs(parts);
  }

  /**
   * @returns what was done, as a sentence
   * @throws AppError not_found, rule_violated for work that cannot be retried or stopped, workflows_unavailable
   */
  async do(operation: WorkOperation, id: string, asked: Asked): Promise<string> {
    const work = await this.#transact(async (unit) => {
      const [found] = await listFailingWork(unit, { id }, { limit: 1 });
      return found;
    });
    if (!work) throw new AppError('not_found', `There is no failing work "${shortened(id)}".`);
    const done = actionsOn(work)[operation];
    if (done === null)
      throw new AppError(
        'rule_violated',
        `The work "${id}" (${work.kind}, ${work.status}) cannot be ${past[operation]} here.`,
      );
    if (id.startsWith('delivery.')) await this.#repairDelivery(operation, id, asked);
    else if (id.startsWith(copyPrefix)) await this.#wakeCopy(work, asked);
    else if (id.startsWith(wakePrefix)) await this.#repairWake(operation, work, asked);
    else await this.#repairRun(operation, work, asked);
    return done;
  }

  async #repairDelivery(operation: WorkOperation, id: string, asked: Asked): Promise<void> {
    const [, eventId = '', ...listener] = id.split('.');
    const now = await this.#transact(async ({ clock }) => clock.now().toISOString());
    await this.#events.start({
      repairId: newId(),
      operation: operation === 'retry' ? 'retry' : 'skip',
      selection: {
        eventIds: [eventId],
        listener: listener.join('.'),
        states: operation === 'retry' ? ['failing'] : ['failing', 'held'],
        until: now,
      },
      asked,
      isDryRun: false,
      perSecond: defaultPerSecond,
    });
  }

  async #wakeCopy({ id }: FailingWork, asked: Asked): Promise<void> {
    await this.#transact(async (unit) => {
      await recordRepair(unit, repairOf('retry', id, asked));
      await wakeRow(unit, copiesDue, id.slice(copyPrefix.length));
    });
  }

  async #repairWake(operation: WorkOperation, { id }: FailingWork, asked: Asked): Promise<void> {
    const wakeId = id.slice(wakePrefix.length);
    await this.#transact(async (unit) => {
      await recordRepair(unit, repairOf(operation, id, asked));
      await (operation === 'retry' ? hastenWake(unit, wakeId) : endWakes(unit, [wakeId]));
    });
  }

  async #repairRun(operation: WorkOperation, work: FailingWork, asked: Asked): Promise<void> {
    // Before it is done: nothing is done that is not on record.
    await this.#transact((unit) => recordRepair(unit, repairOf(operation, work.id, asked)));
    const execution = { workflowId: work.workflowId ?? '', runId: work.runId ?? '' };
    if (operation === 'retry') {
      if (work.status === 'failing') await this.#resetActivity(execution, work.activity ?? '');
      else await this.#beginAgain(execution, asked.reason);
    } else if (work.status === 'failing') {
      const handle = this.#temporal.client.workflow.getHandle(execution.workflowId, execution.runId);
      // Code that fails cannot handle that it is cancelled.
      const end = async (): Promise<void> => {
        if (work.activity === null) await handle.terminate(asked.reason);
        else if (isRemovalStep(work)) await handle.signal(skipStepSignal, work.activity);
        else if (isInstanceStep(work)) await handle.signal(skipActionSignalName);
        else await handle.cancel();
      };
      await this.#temporal.call('end a workflow', end).catch(ignoreUnknown);
    }
    // An activity that is tried again leaves its run as it is.
    const isContinued = isRemovalStep(work) || isInstanceStep(work);
    const isRunSettled = (operation === 'stop' && !isContinued) || work.status !== 'failing';
    await this.#transact((unit) => endFailure(unit, work.id.slice('work.'.length), isRunSettled));
  }

  /** The activity is tried at once, as for the first time: its attempts are numbered from one again. */
  async #resetActivity(execution: Execution, type: string): Promise<void> {
    const { namespace } = this.#temporal.settings;
    await this.#temporal
      .call('reset an activity', () =>
        this.#temporal.client.workflowService.resetActivity({ namespace, execution, type, identity: 'operator' }),
      )
      .catch(refuseGone);
  }

  /** Runs the workflow again from its beginning; its activities are idempotent. */
  async #beginAgain(execution: Execution, reason: string): Promise<void> {
    const { namespace } = this.#temporal.settings;
    const { workflowService } = this.#temporal.client;
    const history = await this.#temporal
      .call('read a history', () => workflowService.getWorkflowExecutionHistory({ namespace, execution }))
      .catch(refuseGone);
    const first = history.history?.events?.find((event) => event.workflowTaskCompletedEventAttributes);
    if (!first?.eventId) throw noLongerThere();
    await this.#temporal
      .call('reset a workflow', () =>
        workflowService.resetWorkflowExecution({
          namespace,
          workflowExecution: execution,
          reason,
          requestId: newId(),
          workflowTaskFinishEventId: first.eventId,
        }),
      )
      .catch(refuseGone);
  }

  #transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return this.#database.transact({ caller: systemCaller('operator of work'), requestId: `work-${newId()}` }, work);
  }
}

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

function repairOf(operation: WorkOperation, id: string, { operator, reason }: Asked): Repair {
  const selection = operation === 'stop' ? null : { states: [], eventIds: [id] };
  return { repairId: `${id}/${newId()}`, operation, selection, operator, reason };
}

const past = { retry: 'retried', stop: 'stopped' } as const;

/** gRPC NOT_FOUND: the run has ended meanwhile, or is no longer kept. */
const notFound = 5;

function refuseGone(error: unknown): never {
  if ((error as { readonly code?: unknown }).code === notFound) throw noLongerThere();
  throw error;
}

function ignoreUnknown(error: unknown): void {
  if (!isUnknownWorkflow(error)) throw error;
}

function noLongerThere(): AppError {
  return new AppError(
    'rule_violated',
    'Temporal does not try this work any more, so nothing can be repeated; stop takes it from the list.',
  );
}
