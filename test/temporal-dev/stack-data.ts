import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import type { RunningStack } from '#temporal-dev/stack/running-stack.ts';
import { readState } from '#temporal-dev/servers/stack-state.ts';

/** Something written to each server of a stack, to see later that it is still there. */
export interface Traces {
  id: string;
}

/** Writes a row, a workflow, a store and a key. */
export async function leaveTraces(stack: RunningStack, stateDir: string): Promise<Traces> {
  const id = `trace-${randomUUID()}`;
  await query(stack, 'create table if not exists trace (id text primary key)');
  await query(stack, 'insert into trace values ($1)', [id]);
  await post(`${temporalApi(stateDir)}/workflows/${id}`, {
    workflowType: { name: 'nobodyWorksOnIt' },
    taskQueue: { name: 'nobody' },
    searchAttributes: {
      indexedFields: { OrganizationId: encoded('KeywordList', [id]), RequestId: encoded('KeywordList', [id]) },
    },
  });
  await post(`${stack.openfga?.url}/stores`, { name: id });
  await redis(stack, (client) => client.set(id, 'here'));
  return { id };
}

/** Which of the servers still have what was written. */
export async function findTraces(
  stack: RunningStack,
  stateDir: string,
  { id }: Traces,
): Promise<Record<string, boolean>> {
  const rows = await query(stack, 'select 1 from trace where id = $1', [id]);
  const workflow = await fetch(`${temporalApi(stateDir)}/workflows/${id}`);
  const stores = await (await fetch(`${stack.openfga?.url}/stores?page_size=100`)).text();
  const key = await redis(stack, (client) => client.get(id));
  return { row: rows === 1, workflow: workflow.ok, store: stores.includes(id), key: key === 'here' };
}

export const ALL_TRACES = { row: true, workflow: true, store: true, key: true };

/** Runs one statement in a connection of its own; resolves with the number of rows. */
export async function query(stack: RunningStack, text: string, values: unknown[] = []): Promise<number> {
  const client = new Client({ connectionString: stack.postgres?.url('postgres') });
  await client.connect();
  try {
    return (await client.query(text, values)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}

/** How many workflows a visibility query lists. */
export async function countWorkflows(stateDir: string, visibilityQuery: string): Promise<number> {
  const url = `${temporalApi(stateDir)}/workflow-count?query=${encodeURIComponent(visibilityQuery)}`;
  const answer: { count?: string } = await (await fetch(url)).json();
  return Number(answer.count ?? 0);
}

/** Temporal's API as JSON, of the default namespace. */
function temporalApi(stateDir: string): string {
  return `http://127.0.0.1:${readState(stateDir).ports['temporal-http']}/api/v1/namespaces/default`;
}

async function redis<T>(stack: RunningStack, action: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(stack.redis?.url ?? '');
  try {
    return await action(client);
  } finally {
    client.disconnect();
  }
}

async function post(url: string, body: unknown): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
}

function encoded(type: string, value: unknown): unknown {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return { metadata: { encoding: base64('json/plain'), type: base64(type) }, data: base64(JSON.stringify(value)) };
}
