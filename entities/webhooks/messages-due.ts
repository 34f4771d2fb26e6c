import { defineDueWork } from '../kit/due-work/define-due-work.ts';
import { claimDueEndpoints } from './webhook-queue-rows.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Messages to endpoints. An item is an endpoint with due messages: its workflow sends them, in their order and within its limits. */
export const messagesDue = defineDueWork({
  name: 'message/endpoints',
  rows: {
    table: 'webhook_messages',
    key: 'event_id',
    owner: 'organization_id',
    dueAt: 'due_at',
    waits: `state = 'due'`,
  },
  leaseMs: 5 * second,
  retry: {
    pausesMs: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
    last: 'give up',
    jitter: 0.1,
  },
  claim: claimDueEndpoints,
  workflow: 'deliverToEndpoint',
  input: ({ key, owner }) => ({ endpointId: key, organizationId: owner }),
  signal: 'wake',
  search: ({ key, owner }) => ({ OrganizationId: [owner], EntityKind: 'webhook_endpoint', EntityId: key }),
});
