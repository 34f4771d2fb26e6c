import { isUnknownWorkflow, type TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { recordRepair } from '#entities/kit/outbox/delivery-repairs.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { StartInput } from '#workflows/kit/contract.ts';
import type { SearchValues } from '#workflows/kit/search-attributes.ts';
import {
  repairDeliveriesContract,
  repairProgressQuery,
  repairWorkflowId,
  stopRepairSignal,
  type RepairDeliveriesInput,
  type RepairReport,
} from '#workflows/events/repair-deliveries.contract.ts';

/** Deliveries a second that a repair goes through. */
export const maxPerSecond = 100;
export const defaultPerSecond = 10;

export type RepairRequest = Omit<StartInput<RepairDeliveriesInput>, 'pagesPerRun' | 'after' | 'report'>;

interface RepairState {
  /** As Temporal names it, such as RUNNING or COMPLETED. */
  readonly status: string;
  readonly report: RepairReport;
}

/** Services of repairs. */
export interface RepairParts {
  readonly temporal: TemporalGateway;
  readonly database: Database;
}

/** Operations on failing deliveries for operators, at the command line and over REST: `repairDeliveries` does the work. */
export class EventRepairs {
  readonly #temporal: TemporalGateway;
  readonly #database: Database;

  constructor({ temporal, database }: RepairParts) {
    this.#temporal = temporal;
    this.#database = database;
  }

  /** @throws AppError workflows_unavailable */
  async start(request: RepairRequest): Promise<void> {
    await this.#temporal.start(repairDeliveriesContract, request, {
      repeat: 'again',
      search: searchOf(request.selection),
    });
  }

  /** @returns undefined when there is no such repair @throws AppError workflows_unavailable */
  state(repairId: string): Promise<RepairState | undefined> {
    const handle = this.#handle(repairId);
    return unlessUnknown(async () => {
      const { status } = await this.#temporal.call('find a workflow', () => handle.describe());
      const report = await this.#temporal.call('ask a workflow', async () =>
        status.name === 'COMPLETED'
          ? ((await handle.result()) as RepairReport)
          : handle.query<RepairReport>(repairProgressQuery),
      );
      return { status: status.name, report };
    });
  }

  /**
   * Ends a repair after the deliveries that it is working on; what it has done stays.
   * @returns its status before: nothing is done unless it is RUNNING. Undefined when there is no such repair
   * @throws AppError workflows_unavailable
   */
  async stop(
    repairId: string,
    { operator, reason, requestId }: RepairRequest['asked'] & { readonly requestId: string },
  ): Promise<string | undefined> {
    const handle = this.#handle(repairId);
    const found = await unlessUnknown(() => this.#temporal.call('find a workflow', () => handle.describe()));
    if (found?.status.name !== 'RUNNING') return found?.status.name;
    // Before the signal: nothing is done that is not on record.
    await this.#database.transact({ caller: systemCaller('operator of events'), requestId }, (unit) =>
      recordRepair(unit, { repairId, operation: 'stop', selection: null, operator, reason }),
    );
    await this.#temporal.call('stop a workflow', () => handle.signal(stopRepairSignal));
    return found.status.name;
  }

  #handle(repairId: string) {
    return this.#temporal.client.workflow.getHandle(
      `${this.#temporal.settings.prefix}/${repairWorkflowId({ repairId })}`,
    );
  }
}

/** Search attributes of the run of a repair. */
export function searchOf({ organizationId }: Pick<RepairRequest['selection'], 'organizationId'>): SearchValues {
  return organizationId === undefined ? {} : { OrganizationId: [organizationId] };
}

async function unlessUnknown<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isUnknownWorkflow(error)) return undefined;
    throw error;
  }
}
