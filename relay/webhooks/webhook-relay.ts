import type { Logger } from 'pino';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { RepeatedWork } from '#entities/kit/base/concurrency/repeated-work.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { claimDueEndpoints } from '#entities/webhooks/webhook-queue-rows.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { deliverToEndpointContract, wakeSignalName } from '#workflows/webhooks/deliver-to-endpoint.contract.ts';

export interface WebhookRelayOptions {
  readonly database: Database;
  readonly temporal: TemporalGateway;
  readonly logger: Logger;
  /** `workflows.dispatch.enabled`. While it is off, messages stay due. */
  readonly isEnabled: () => boolean;
}

/** Most endpoints of one claim. */
const maxClaimed = 50;

/**
 * Wakes the workflows of endpoints with messages that are due. It finds them in committed rows, so a wake is never too early; one that comes
 * while the workflow ends begins another round of it (`deliverToEndpoint`).
 */
export class WebhookRelay {
  readonly #options: WebhookRelayOptions;
  readonly #work: RepeatedWork;

  constructor(options: WebhookRelayOptions) {
    this.#options = options;
    this.#work = new RepeatedWork({
      round: () => this.#wakeDue(),
      isEnabled: options.isEnabled,
      onError: (error) =>
        options.logger.error({ err: error }, 'the relay of webhooks failed; the next poll tries again'),
    });
  }

  /** To be called when messages may be due. */
  wake(): void {
    this.#work.wake();
  }

  /** Claims nothing more and waits for wakes under way. */
  stop(): Promise<void> {
    return this.#work.stop();
  }

  /** @returns whether more may be due */
  async #wakeDue(): Promise<boolean> {
    const { database, temporal } = this.#options;
    const context = { caller: systemCaller('webhook relay'), requestId: `webhooks-${newId()}` };
    const due = await database.transact(context, (unit) => claimDueEndpoints(unit, maxClaimed));
    await Promise.all(
      due.map((endpoint) =>
        temporal.wake(deliverToEndpointContract, endpoint, {
          signal: wakeSignalName,
          search: {
            OrganizationId: [endpoint.organizationId],
            EntityKind: 'webhook_endpoint',
            EntityId: endpoint.endpointId,
          },
        }),
      ),
    );
    return due.length === maxClaimed;
  }
}
