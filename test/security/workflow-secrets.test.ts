import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAutomationActivities } from '#activities/automation/automation-activities.ts';
import { asOwner } from '../kit/as-owner.ts';
import { databaseDump } from '../kit/database-dump.ts';
import { createdEndpoint } from '../kit/events/created-endpoint.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { WebhookSink } from '../kit/fakes/webhook-sink.ts';
import { Canaries } from '../kit/fuzz/canaries.ts';
import { storedRuns } from '../kit/histories.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Secrets, and texts that people write, pass through workflows of definitions, all of which keep the values of expressions. */
let world: World;
let sink: WebhookSink;
let owner: Person;
let client: TestClient;
const secrets = new Canaries('canary');
const texts = new Canaries('wrote');

beforeAll(async () => {
  sink = await WebhookSink.open();
  world = await openWorld({
    worker: true,
    environment: {
      CORE_WORKFLOWS_ENABLED: 'true',
      CORE_WORKFLOWS_CEL_TRACKSTATE: 'true',
      CORE_WORKFLOWS_CEL_TIMEOUT: '60000',
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: secrets.make('key of API tokens').padEnd(40, '-'),
    },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  secrets.add('password of people', testPassword);
  await plant();
  await eventually(async () => {
    const open = await asOwner<{ status: string }>(
      world,
      'select status from workflow_instances where ended_at is null',
    );
    return (await isSettled(world)) && open.every(({ status }) => status === 'failing');
  });
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

function ok(answer: TestAnswer): TestAnswer {
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

async function publish(schemaType: string, recordKind: string, more: object): Promise<void> {
  const document = { schemaType, triggers: [{ operation: 'UPDATE' }], ...more };
  const body = { name: texts.make(`name of ${schemaType}`), record_kind: recordKind, document };
  const { id } = ok(await client.post('/v1/workflow-definitions', body)).body;
  ok(await client.post(`/v1/workflow-definitions/${id}/publish`, {}));
}

/** Records with secrets change under definitions that read all of them; a task with texts passes an approval, and an action fails. */
async function plant(): Promise<void> {
  const whole = [{ expression: 'object == object && old_object != null' }];
  const tell = {
    key: 'tell',
    type: 'NOTIFY',
    params: { targets: [{ type: 'ROLE', id: 'owner' }], title: { expr: 'object.name' } },
  };
  for (const [type, kind] of [
    ['WebhookEndpoint', 'webhookEndpoint'],
    ['ApiToken', 'apiToken'],
  ] as const)
    await publish(type, kind, { conditions: whole, actions: [tell] });
  const endpoint = await createdEndpoint(client, sink, { topics: ['note.created'], scopes: ['note:read'] });
  const [kept] = await asOwner<{ secret: string }>(world, 'select secret from webhook_endpoints');
  secrets.add('sealed secret of the endpoint', kept?.secret ?? '');
  ok(await client.mutate({ method: 'PATCH', url: `/v1/webhook-endpoints/${endpoint.id}`, payload: { name: 'Hook' } }));
  const token = ok(await client.post('/v1/api-tokens', { name: 'Token', scopes: ['task:read'] })).body;
  secrets.add('API token', String(token.secret ?? token.token));
  const [hashed] = await asOwner<{ hash: string }>(world, 'select secret_hash as hash from api_tokens');
  secrets.add('hash of the API token', hashed?.hash ?? '');
  ok(await client.mutate({ method: 'PATCH', url: `/v1/api-tokens/${token.id}`, payload: { name: 'Other' } }));

  const ann = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const annClient = await signedIn(world, ann);
  const targets = [{ type: 'USER', id: ann.user.id }];
  await publish('Task', 'task', {
    triggers: [{ operation: 'UPDATE', fields: ['details'], expression: 'object.title != "" && object.details != ""' }],
    actions: [
      { key: 'ask', type: 'REQUEST_APPROVAL', params: { targets, fields: ['details'], label: texts.make('label') } },
      {
        key: 'call',
        type: 'WEBHOOK',
        params: { endpoint_id: endpoint.id, payload: { text: { expr: 'object.details' } } },
      },
      {
        key: 'mail',
        type: 'SEND_EMAIL',
        params: { targets, subject: { expr: 'object.title' }, body: texts.make('body') },
      },
      { key: 'fail', type: 'UPDATE_FIELD', params: { updates: { priority: { expr: 'int(object.details)' } } } },
    ],
  });
  const task = ok(await client.post('/v1/tasks', { title: texts.make('title'), assignee_id: ann.user.id })).body.id;
  ok(await client.mutate({ method: 'PATCH', url: `/v1/tasks/${task}`, payload: { details: texts.make('details') } }));
  const mine = await eventually(async () => (await annClient.get('/v1/workflow-assignments/mine')).body.data[0]);
  ok(await annClient.post(`/v1/workflow-assignments/${mine.id}/approve`, { note: texts.make('note') }));
  await eventually(
    async () => (await asOwner(world, `select 1 from workflow_instances where status = 'failing'`)).length === 1,
  );
}

test('T-62: secrets of records are in no row but their own', async () => {
  const own: Readonly<Record<string, string>> = {
    'sealed secret of the endpoint': 'public.webhook_endpoints',
    'hash of the API token': 'public.api_tokens',
  };
  const dump = await databaseDump(world);
  expect(dump.get('public.workflow_events')?.join('\n')).toContain('expressions');
  for (const [table, rows] of dump) {
    const found = secrets.in(rows.join('\n')).filter((name) => own[name] !== table);
    expect(found, table).toEqual([]);
  }
});

test('T-62: neither secrets nor texts of people are in log lines, though an action has failed', () => {
  expect(world.logs.some(({ msg }) => msg === 'an action of a workflow failed')).toBe(true);
  const lines = world.logs.map((line) => JSON.stringify(line));
  expect(lines.flatMap((line) => secrets.in(line))).toEqual([]);
  expect(lines.flatMap((line) => texts.in(line))).toEqual([]);
});

test('T-62, T-123: Temporal holds neither secrets nor values of records, and nothing of them unencrypted', async () => {
  const runs = (await storedRuns(world)).filter(({ id }) => id.startsWith('workflow/'));
  expect(runs.length).toBeGreaterThanOrEqual(3);
  for (const { id, stored, decrypted } of runs) {
    expect(secrets.in(stored + decrypted), id).toEqual([]);
    // Operators see the name of the definition, once it is decrypted.
    expect(texts.in(stored), id).toEqual([]);
    expect(
      texts.in(decrypted).filter((name) => !name.startsWith('name of')),
      id,
    ).toEqual([]);
  }
});

test('T-123: a step of an instance does nothing in another organization than its own, whatever its input says', async () => {
  const [instance] = await asOwner<{ id: string }>(world, `select id from workflow_instances where status = 'failing'`);
  const foreign = await buildPerson(world);
  const { stepInstance, skipAction } = createAutomationActivities(world.runtime as never);
  const reference = { instanceId: instance?.id ?? '', organizationId: foreign.organization.id };
  expect(await stepInstance(reference)).toMatchObject({ isDone: true });
  await skipAction(reference);
  const after = await asOwner(world, 'select status from workflow_instances where id = $1', [instance?.id]);
  expect(after).toEqual([{ status: 'failing' }]);
});
