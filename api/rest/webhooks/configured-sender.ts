import type { Config } from '#config/objects/root.ts';
import { webhookEvent } from '#entities/integrations/webhook-event.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { workOf } from '../../http/request-context.ts';
import type { RawDelivery, Senders } from './define-receiver.ts';

/**
 * A system whose secret is in the configuration: one secret, or one for each version that requests name. Listeners of
 * `webhook_event.received` act on its events, each of which is a record of its own: they compare `occurredAt` where the order matters.
 * @param source name of the system, by which listeners know its events
 * @param secretOf while it is empty, there is no such route
 */
export function configuredSender(source: string, secretOf: (config: Config, delivery: RawDelivery) => string): Senders {
  return {
    description: 'Without a configured secret, the route does not exist.',
    find: (delivery, { request, services }) => {
      const secret = secretOf(services.config.current, delivery);
      if (secret === '') return undefined;
      return {
        secret,
        record: async ({ externalId, type, occurredAt, values }) => {
          await services.database.transact(workOf(request.core, systemCaller('receive event')), ({ data }) =>
            data.createOnce(webhookEvent, { provider: source, externalId, type, occurredAt }, (stored) =>
              customEvent(webhookEvent, 'received', stored, {
                provider: source,
                type,
                occurredAt: occurredAt.toISOString(),
                values,
              }),
            ),
          );
        },
      };
    },
  };
}
