import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseDump } from '../kit/database-dump.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { documentOf, ended, startExport } from '../kit/events/started-transfers.ts';
import { eventually } from '../kit/eventually.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { Canaries } from '../kit/fuzz/canaries.ts';
import { storedRuns } from '../kit/histories.ts';
import { openChatConnections, type ChatConnections } from '../kit/integrations/chat-connection.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';

// T-62: codes, tokens and secrets of integrations are found nowhere afterwards.

const secrets = new Canaries('xoxb-0000000001');

let ground: ChatConnections;
let client: TestClient;
let metricsUrl: string;
const answers: TestAnswer[] = [];

beforeAll(async () => {
  ground = await openChatConnections({ worker: true, environment: { CORE_DB_DEBUG: 'true' } });
  ({ metricsUrl } = await ground.world.listen());
  await signInAndRun();
  await enter();
  await rotate();
  await fail();
  await disconnect();
  ground.chat.secrets.forEach((value, index) => secrets.add(`secret ${index} of the chat`, value));
  secrets.add('secret of the app', ground.chat.client.secret);
  // Parts of answers in which the chat repeats what it was sent.
  secrets.add('word of a refusal', 'secret of the answer');
  secrets.add('token of a refusal', 'xoxb-of-the-answer');
  await eventually(() => isSettled(ground.world));
});
afterAll(() => ground.close());

const noted = async (asked: Promise<TestAnswer>): Promise<TestAnswer> => {
  const answer = await asked;
  answers.push(answer);
  return answer;
};

/** Its loop brings people in, so workflows have used the credential. */
async function signInAndRun(): Promise<void> {
  const id = await ground.connect('T1');
  client = await ground.client();
  await eventually(async () => {
    const { body } = await client.get('/v1/integration-runs');
    return body.data.some((run: { integration_id: string; status: string }) => run.status === 'succeeded');
  });
  await noted(client.get(`/v1/integrations/${id}`));
}

const enterToken = (accessToken: string, name: string) =>
  noted(client.post('/v1/integrations/chat/config', { name, credential_ref: 'botToken', body: { accessToken } }));

async function enter(): Promise<void> {
  expect((await enterToken(ground.chat.tokenOf('T1'), 'entered')).status).toBe(200);
  expectProblem(await enterToken(secrets.make('token that is refused'), 'refused'), 'integration_refused');
  const { body } = await client.post('/v1/secrets', { name: 'x', value: secrets.make('secret of a person') });
  await noted(client.get(`/v1/secrets/${body.id}`));
  for (const input of [
    { accessToken: `${secrets.make('token of another form')} ` },
    { accessToken: [secrets.make('token in a list')] },
    { [secrets.make('token as a name')]: 1 },
  ])
    await client.post('/v1/integrations/chat/config', { credential_ref: 'botToken', body: input });
  await noted(
    client.graphql(
      'mutation ($body: JSON) { configureIntegration(definitionId: "chat", credentialRef: "botToken", body: $body) { healthStatus } }',
      { body: { accessToken: secrets.make('token over GraphQL') } },
    ),
  );
}

/** The credential is renewed. */
async function rotate(): Promise<void> {
  const id = await ground.connect('T2');
  ground.world.clock.advance(43_200_000 - 30_000);
  client = await ground.client();
  const before = ground.renewals();
  await ground.world.runtime.integrations.use(id, () => Promise.resolve());
  expect(ground.renewals()).toBeGreaterThan(before);
}

/** The chat refuses in its own words. */
async function fail(): Promise<void> {
  const id = await ground.connect('T3');
  ground.chat.endTokens();
  const run = { operation: 'messageSend', input: { text: 'hello', channel: 'C0000000009' } };
  await noted(client.post(`/v1/integrations/${id}/operations/run`, run));
  for (const behaviour of ['fail', 'page', 'cut', 'half'] as const) {
    ground.chat.next.push(behaviour);
    await noted(client.post(`/v1/integrations/${id}/operations/run`, run));
  }
}

async function disconnect(): Promise<void> {
  const id = await ground.connect('T4');
  expect((await noted(client.post(`/v1/integrations/${id}/disconnect`, {}))).status).toBe(202);
  await eventually(async () => (await client.get(`/v1/integrations/${id}`)).status === 404);
}

describe('T-62: a credential of an integration', () => {
  test('of every sort is planted', () => {
    expect(secrets.size).toBeGreaterThan(15);
  });

  test('is in no row, not even in that in which it is sealed', async () => {
    const dump = await databaseDump(ground.world);
    expect(dump.get('public.secrets')?.length).toBeGreaterThan(2);
    for (const [table, rows] of dump) expect(secrets.in(rows.join('\n')), table).toEqual([]);
  });

  test('is in no log line', () => {
    const lines = ground.world.logs.map((line) => JSON.stringify(line));
    expect(lines.some((line) => line.includes('/v1/integrations/auth/callback'))).toBe(true);
    expect(lines.filter((line) => secrets.in(line).length > 0)).toEqual([]);
  });

  test('is in no workflow, not even after decryption', async () => {
    const runs = await storedRuns(ground.world);
    expect(new Set(runs.map(({ id }) => id.split('/')[0]))).toEqual(
      expect.objectContaining(new Set(['integration-loop', 'integration-disconnect'])),
    );
    for (const { id, stored, decrypted } of runs) expect(secrets.in(stored + decrypted), id).toEqual([]);
  });

  test('is in no metric', async () => {
    expect(secrets.in(await (await fetch(metricsUrl)).text())).toEqual([]);
  });

  test('is in no answer, list, history and export', async () => {
    for (const url of ['/v1/integrations', '/v1/secrets', '/v1/integration-runs', '/v1/integration-definitions'])
      expect((await noted(client.get(url))).status, url).toBe(200);
    const queries = [
      '{ integrations { edges { node { userInput credentials { edges { node { name metadata } } } } } } }',
      '{ secretHistories { edges { node { id } } } integrationHistories { edges { node { id userInput } } } }',
    ];
    for (const query of queries) expect((await noted(client.graphql(query))).body.errors, query).toBeUndefined();
    for (const { url, body } of answers) expect(secrets.in(JSON.stringify(body)), url).toEqual([]);
    for (const kind of ['secret', 'integration']) {
      const { id } = await startExport(client, { record_kind: kind, format: 'csv' });
      const document = await documentOf(client, await ended(client, 'exports', id));
      expect(document).toMatch(/\n01\w{24},/);
      expect(secrets.in(document)).toEqual([]);
    }
  });
});
