import type { TemporalGateway } from '../clients/temporal/temporal-client.ts';
import { withOrigin } from '../clients/temporal/work-origin.ts';
import type { Delivery, Listener } from '../listeners/listener.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { WorkOrigin } from '#workflows/kit/contract.ts';

/** Workflows that listeners asked for in one transaction; started together before it commits. */
export class WorkflowStarts {
  readonly #temporal: TemporalGateway;
  #wanted: (() => Promise<unknown>)[] = [];

  constructor(temporal: TemporalGateway) {
    this.#temporal = temporal;
  }

  deliveryOf(event: EventRow, listener: Listener, unit: UnitOfWork, origin: WorkOrigin): Delivery {
    const search = {
      RequestId: [event.requestId],
      EventTopic: [event.topic],
      EntityKind: event.entityKind,
      EntityId: event.entityId,
      ...(event.organizationId === null ? {} : { OrganizationId: [event.organizationId] }),
    };
    return {
      event,
      unit,
      key: `${event.id}/${listener.name}`,
      start: (contract, input, options = {}) => {
        this.#wanted.push(() =>
          withOrigin(origin, () =>
            this.#temporal.start(contract, input, { ...options, search: { ...search, ...options.search } }),
          ),
        );
      },
    };
  }

  async run(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    await Promise.all(wanted.map((start) => start()));
  }
}
