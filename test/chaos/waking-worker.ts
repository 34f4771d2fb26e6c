import { listeners } from '#activities/listeners/index.ts';
import { defineListener, type Listener } from '#activities/listeners/listener.ts';
import { organization } from '#entities/index.ts';
import { on } from '#entities/kit/model/events.ts';
import { deliverToEndpointContract } from '#workflows/webhooks/deliver-to-endpoint.contract.ts';

// A worker of the product with one more listener, because none of the product wakes a workflow.

/** Wakes the workflow of an endpoint that does not exist: it looks at its rows, finds nothing and ends. */
const waking = defineListener('waking', [on(organization, 'created')], ({ event: { entityId: id }, wake }) =>
  wake(deliverToEndpointContract, { endpointId: id, organizationId: id }),
);

(listeners as Listener[]).push(waking);
await import('#worker/worker-main.ts');
