import {
  endWakes,
  keepWakes,
  postponeWakes,
  type RefusedWake,
  type WorkflowWake,
} from '#entities/kit/outbox/workflow-wakes.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { WorkOrigin } from '#workflows/kit/contract.ts';
import { withOrigin } from '../clients/temporal/work-origin.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { wakeOf } from '../kit/wake-of.ts';
import type { Delivery, Listener } from '../listeners/listener.ts';

type StartDependencies = Pick<ActivityDependencies, 'database' | 'temporal' | 'logger'>;
type DeliveryDependencies = StartDependencies & Pick<ActivityDependencies, 'expressions'>;

/** Workflows that listeners asked for in one transaction: started together before it commits, or woken after it has. */
export class WorkflowStarts {
  readonly #deps: DeliveryDependencies;
  readonly #unit: UnitOfWork;
  #wanted: (() => Promise<unknown>)[] = [];
  #wakes: WorkflowWake[] = [];
  /** Those of which rows were written. */
  #kept: WorkflowWake[] = [];

  constructor(deps: DeliveryDependencies, unit: UnitOfWork) {
    this.#deps = deps;
    this.#unit = unit;
  }

  deliveryOf(event: EventRow, listener: Listener, origin: WorkOrigin): Delivery {
    const search = {
      RequestId: [event.requestId],
      EventTopic: [event.topic],
      EntityKind: event.entityKind,
      EntityId: event.entityId,
      ...(event.organizationId === null ? {} : { OrganizationId: [event.organizationId] }),
    };
    return {
      event,
      unit: this.#unit,
      key: `${event.id}/${listener.name}`,
      expressions: this.#deps.expressions,
      start: (contract, input, options = {}) => {
        this.#wanted.push(() =>
          withOrigin(origin, () =>
            this.#deps.temporal.start(contract, input, { ...options, search: { ...search, ...options.search } }),
          ),
        );
      },
      wake: (contract, input, { update, signal: name, search: own = {} } = {}) => {
        const signal = name === undefined ? undefined : { name, id: null };
        const message = update === undefined ? signal : { name: update, id: event.id };
        const wake = wakeOf(contract, input, { ...search, ...own }, message);
        // One wake is enough for all that is written in one transaction.
        const isSame = (kept: WorkflowWake) =>
          kept.workflowId === wake.workflowId && kept.signal === wake.signal && kept.updateId === wake.updateId;
        if (!this.#wakes.some(isSame)) this.#wakes.push(wake);
      },
    };
  }

  /** Before the commit: starts what was asked for, and keeps what is to be woken. */
  async run(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    await Promise.all(wanted.map((start) => start()));
    await keepWakes(this.#unit, this.#wakes);
    this.#kept.push(...this.#wakes);
    this.#wakes = [];
  }

  /** After the commit, so it never throws. Wakes that cannot be sent now are sent by the sweep of the outbox. */
  async wake(): Promise<void> {
    if (this.#kept.length === 0) return;
    try {
      await sendWakes(this.#deps, this.#kept);
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'workflows are woken later');
    }
  }
}

/**
 * Wakes workflows, each with a signal that starts it if it is not running, then forgets the rows of those that were woken. The others are
 * logged and keep their rows; those that Temporal refuses wait longer each time. A wake that is sent twice has no effect.
 */
export async function sendWakes(
  { database, temporal, logger }: StartDependencies,
  wakes: readonly WorkflowWake[],
): Promise<void> {
  if (wakes.length === 0) return;
  failpoint('wake-before-signal');
  const sent: string[] = [];
  const refused: RefusedWake[] = [];
  await Promise.all(
    wakes.map(async ({ id, name, workflowId, queue, signal, updateId, input, search }) => {
      const contract = { name, workflowId: () => workflowId, ...(queue === null ? {} : { queue }) };
      try {
        if (updateId === null) await temporal.wake(contract, input, { signal, search });
        else await temporal.update(contract, input, { update: { name: signal, id: updateId }, search });
        sent.push(id);
      } catch (error) {
        logger.warn({ err: error, workflow_id: workflowId }, 'a workflow is woken later');
        // An outage is waited out, and no attempt.
        if (!isAppError(error) || error.code !== 'workflows_unavailable') refused.push({ id, error: refusalIn(error) });
      }
    }),
  );
  if (sent.length + refused.length === 0) return;
  failpoint('wake-after-signal');
  const context = { caller: systemCaller('event delivery'), requestId: `wakes-${newId()}` };
  await database.transact(context, async (unit) => {
    await endWakes(unit, sent);
    await postponeWakes(unit, refused);
  });
}

/** Reason why Temporal refuses a request. Messages of other errors may hold data, so they give their names alone. */
function refusalIn(error: unknown): string {
  const { name = 'error', cause } = error as Partial<Error> & { readonly cause?: Partial<Error & { code: unknown }> };
  return typeof cause?.code === 'number' ? (cause.message ?? name) : name;
}
