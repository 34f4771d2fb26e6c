import { randomBytes } from 'node:crypto';
import { organization, webhookEndpoint } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { BenchInstallation } from '../installation.ts';

export interface BenchEndpoint {
  readonly id: string;
  readonly organizationId: string;
  readonly url: string;
  readonly secret: string;
}

/** Settings of an installation whose endpoints are on this machine. */
export const endpointSettings = { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' } as const;

/** The highest limits that an endpoint can have, so that they are not what is measured. */
const limits = { maxInFlight: 50, maxPerSecond: 1_000 } as const;

export const benchContext = () => ({ caller: systemCaller('benchmark'), requestId: newId() });

/** Organizations with one endpoint each, which want all events of tasks. */
export async function addEndpoints(
  { runtime }: Pick<BenchInstallation, 'runtime'>,
  count: number,
  sinkUrl: string,
): Promise<BenchEndpoint[]> {
  const endpoints: BenchEndpoint[] = [];
  for (let index = 0; index < count; index++) {
    const { id: organizationId } = await runtime.database.transact(benchContext(), ({ data }) =>
      data.create(organization, { name: `customer-${newId()}` }),
    );
    endpoints.push(await addEndpoint({ runtime }, organizationId, `${sinkUrl}/hook`));
  }
  return endpoints;
}

export async function addEndpoint(
  { runtime }: Pick<BenchInstallation, 'runtime'>,
  organizationId: string,
  url: string,
): Promise<BenchEndpoint> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const settings = { name: url, url, topics: ['task.*'], scopes: ['task:read'], secret, ...limits };
  const { id } = await runtime.database.transact(benchContext(), ({ data }) =>
    data.create(webhookEndpoint, { organizationId, ...settings }),
  );
  return { id, organizationId, url, secret };
}

/** Messages as committed transactions leave them, one for each event; the endpoints take turns. */
export async function addMessages(
  client: BenchInstallation['client'],
  endpoints: readonly BenchEndpoint[],
  eventIds: readonly string[],
): Promise<void> {
  await client.query(
    `insert into webhook_messages (endpoint_id, event_id, organization_id, topic, entity_kind, entity_id, record_version, request_id,
       occurred_at, payload, state, due_at, updated_at)
     select ($2::text[])[1 + n % cardinality($2::text[])], id, ($3::text[])[1 + n % cardinality($3::text[])], 'task.created', 'task',
       'entity-' || id, 1, 'request-' || n, clock.at, '{"changed": ["title"]}', 'due', clock.at, clock.at
     from unnest($1::text[]) with ordinality as given (id, n), date_trunc('milliseconds', clock_timestamp()) as clock (at)`,
    [eventIds, endpoints.map(({ id }) => id), endpoints.map(({ organizationId }) => organizationId)],
  );
}

/** Removes what earlier rounds have left. */
export async function forgetMessages(client: BenchInstallation['client']): Promise<void> {
  await client.query('truncate webhook_messages, webhook_attempts, webhook_queues');
}
