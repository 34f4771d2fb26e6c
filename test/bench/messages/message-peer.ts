import type { Task } from 'graphile-worker';
import { messageHeaders } from '#activities/webhooks/sign-message.ts';
import type { BenchInstallation } from '../installation.ts';
import type { BenchEndpoint } from './bench-endpoints.ts';

/** Where the peer keeps the log of its attempts, as `webhook_attempts` does. */
export const peerAttempts = `create table if not exists peer_attempts (id text primary key, endpoint_id text not null, attempted_at timestamptz not null,
  duration_ms int not null, status int not null, response text not null)`;

interface MessageJob {
  readonly id: string;
  readonly endpointId: string;
  readonly organizationId: string;
  readonly url: string;
  readonly secret: string;
}

/** Sends one signed message with fetch and logs the attempt; graphile-worker repeats it when it throws. */
export const sendMessage: Task = async (payload, helpers) => {
  const { id, endpointId, organizationId, url, secret } = payload as MessageJob;
  const at = new Date();
  const begunAt = performance.now();
  const body = JSON.stringify({
    type: 'task.created',
    timestamp: at.toISOString(),
    data: {
      kind: 'task',
      id: `entity-${id}`,
      organization_id: organizationId,
      version: 1,
      request_id: `request-${id}`,
      changed: ['title'],
    },
  });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'peer',
    ...messageHeaders({ id, at, body }, [secret]),
  };
  const answer = await fetch(url, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(15_000),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the endpoint answered ${answer.status}`);
  await helpers.query(
    'insert into peer_attempts (id, endpoint_id, attempted_at, duration_ms, status, response) values ($1, $2, $3, $4, $5, $6)',
    [id, endpointId, at, Math.round(performance.now() - begunAt), answer.status, text.slice(0, 4_096)],
  );
};

/** Jobs that send one message for each id; the endpoints take turns. */
export async function addMessageJobs(
  client: BenchInstallation['client'],
  endpoints: readonly BenchEndpoint[],
  ids: readonly string[],
): Promise<void> {
  const jobs = ids.map((id, index) => jobOf(endpoints[index % endpoints.length] as BenchEndpoint, id));
  await client.query(
    `select count(*) from (select graphile_worker.add_job('send_message', job) from json_array_elements($1::json) as job) as added`,
    [JSON.stringify(jobs)],
  );
}

export function jobOf({ id: endpointId, organizationId, url, secret }: BenchEndpoint, id: string): MessageJob {
  return { id, endpointId, organizationId, url, secret };
}
