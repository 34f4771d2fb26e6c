import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { runOperatorCommand, type OperatorCommand } from '#tools/commands/operator-commands.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { enroll, type Authenticator } from '../../kit/identity/authenticator.ts';
import { announce } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { fragileListener } from '../../kit/events/failing-deliveries.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const listener = fragileListener('worn', 'worn.changed');

let world: World;
let operator: Person;
let client: TestClient;
let app: Authenticator;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
      CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40),
    },
  });
  operator = await buildPerson(world);
  client = await signedIn(world, operator);
  ({ app } = await enroll(world, client));
  expect((await command('grant', operator.user.email)).isDone).toBe(true);
});
afterAll(async () => {
  for (const entityId of listener.broken) listener.broken.delete(entityId);
  await prove();
  await client.post('/v1/operations/repairs', { operation: 'skip', statuses: ['failing', 'held'], all: true, reason });
  await eventually(async () => (await open()).length === 0);
  await world.close();
});
beforeEach(() => asOwner(world, 'delete from listener_states'));

const reason = 'the cause is removed';
const url = '/v1/operations/deliveries';

async function run(asked: OperatorCommand) {
  const lines: string[] = [];
  const isDone = await runOperatorCommand(asked, { runtime: world.runtime, print: (line) => lines.push(line) });
  return { isDone, text: lines.join('\n') };
}
const command = (name: 'grant' | 'revoke', person: string) => run({ name, person, by: 'somebody@machine', reason });

async function prove(): Promise<void> {
  const { status, body } = await client.post('/v1/2fa/step-up', { code: await app.nextCode() });
  expect(status, JSON.stringify(body)).toBe(200);
}

async function open(query = ''): Promise<Record<string, string>[]> {
  return (await client.get(`${url}?status=failing${query}`)).body.data;
}

/** Events of an organization that fail, with the ids of their records. */
async function failing(organizationId: string | null, count = 1) {
  const entityIds = Array.from({ length: count }, () => newId());
  for (const entityId of entityIds) listener.broken.add(entityId);
  const requestId = await announce(
    world,
    entityIds.map((entityId) => ({ topic: 'worn.changed', entityId, organizationId, payload: { secret: 'a value' } })),
  );
  const deliveries = await eventually(async () => {
    const found = await open(`&request_id=${requestId}`);
    return found.length === count && found;
  });
  // The one of the batch, and the only one of the workflow.
  await eventually(() => entityIds.every((entityId) => listener.attempts.get(entityId) === 2));
  return { requestId, deliveries, mend: () => entityIds.forEach((entityId) => listener.broken.delete(entityId)) };
}

async function states(requestId: string): Promise<string[]> {
  const rows = await asOwner<{ state: string }>(
    world,
    'select state from event_deliveries d join events e on e.id = d.event_id where e.request_id = $1 order by state',
    [requestId],
  );
  return rows.map(({ state }) => state);
}

async function ended(repairId: string) {
  return eventually(async () => {
    const { body } = await client.get(`/v1/operations/repairs/${repairId}`);
    return body.status === 'COMPLETED' && body;
  });
}

test('an operator finds a delivery of any organization, sees what it says, and has it tried again', async () => {
  await prove();
  const { organization } = await buildPerson(world);
  const { requestId, deliveries, mend } = await failing(organization.id);
  expect(deliveries).toEqual([
    expect.objectContaining({ organization_id: organization.id, listener: 'worn', status: 'failing', error: 'Error' }),
  ]);
  expect(await open(`&request_id=${requestId}&organization_id=${organization.id}`)).toHaveLength(1);
  expect(await open(`&request_id=${requestId}&organization_id=${operator.organization.id}`)).toEqual([]);
  const eventUrl = `/v1/operations/events/${deliveries[0]?.['event_id']}`;
  const counted = await client.get(`/v1/operations/delivery-counts?request_id=${requestId}`);
  expect(counted.body).toMatchObject({ total: 1, groups: [{ type: 'worn.changed', listener: 'worn', count: 1 }] });

  mend();
  const asked = { operation: 'retry', event_ids: [deliveries[0]?.['event_id']], listener: 'worn', reason };
  const started = await client.post('/v1/operations/repairs', asked);
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  expect(await ended(started.body.id)).toMatchObject({ selected: 1, repaired: 1, is_stopped: false });
  await eventually(async () => (await states(requestId)).join() === 'done');

  const { body } = await client.get(eventUrl);
  expect(body).toMatchObject({
    organization_id: organization.id,
    deliveries: [{ listener: 'worn', status: 'done' }],
    repairs: [{ repair_id: started.body.id, operation: 'retry', operator: `user:${operator.user.id}`, reason }],
  });
  // A kind whose events do not leave the server.
  expect(body).toMatchObject({ changed: null, details: null });
  expect(JSON.stringify(body)).not.toContain('a value');
  const runs = await eventually(async () => {
    const found = (await client.get(`${eventUrl}/runs`)).body.data;
    return found.length >= 2 && found;
  });
  expect(runs.map(({ type }: { type: string }) => type)).toContain('deliverEvent');
});

test('many are given up: counted first, at a rate, and stopped by somebody who says why', async () => {
  await prove();
  const { requestId } = await failing(null, 6);
  const asked = { operation: 'skip', request_id: requestId, since: '2020-01-01T00:00:00Z', reason, per_second: 1 };
  const dry = await client.post('/v1/operations/repairs', { ...asked, dry_run: true });
  const { selected, repaired, groups } = await ended(dry.body.id);
  expect({ selected, repaired, groups }).toMatchObject({ selected: 6, repaired: 0, groups: [{ count: 6 }] });
  expect(await states(requestId)).toEqual(Array.from({ length: 6 }, () => 'failing'));

  const { body } = await client.post('/v1/operations/repairs', asked);
  await eventually(async () => (await client.get(`/v1/operations/repairs/${body.id}`)).body.repaired > 0);
  const stopUrl = `/v1/operations/repairs/${body.id}/stop`;
  const stopped = await client.post(stopUrl, { reason: 'enough' });
  expect(stopped.body).toEqual({ id: body.id, is_stopping: true });
  const end = await ended(body.id);
  expect(end).toMatchObject({ is_stopped: true, selected: 6 });
  expect(end.repaired).toBeLessThan(6);
  expect((await client.post(stopUrl, { reason: 'again' })).body.is_stopping).toBe(false);
  const kept = await asOwner(
    world,
    'select operation, operator, reason from event_repairs where repair_id = $1 order by operation',
    [body.id],
  );
  const by = `user:${operator.user.id}`;
  expect(kept).toEqual([
    { operation: 'skip', operator: by, reason },
    { operation: 'stop', operator: by, reason: 'enough' },
  ]);
});

test.each([
  [{ operation: 'retry', all: true }, '/reason'],
  [{ operation: 'retry', all: true, reason: ' ' }, '/reason'],
  [{ operation: 'retry', reason }, '/all'],
  [{ operation: 'retry', reason, all: true, listener: 'worn' }, '/all'],
  [{ operation: 'retry', reason, statuses: ['held'], listener: 'worn' }, '/statuses'],
  [{ operation: 'retry', reason, statuses: ['done'], listener: 'worn' }, '/statuses/0'],
  [{ operation: 'retry', reason, listener: 'worn', per_second: 101 }, '/per_second'],
  [{ operation: 'retry', reason, since: 'yesterday' }, '/since'],
  [{ operation: 'remove', reason, all: true }, '/operation'],
])('the repair %j is refused, and nothing is on record', async (asked, path) => {
  await prove();
  const before = await asOwner(world, 'select * from event_repairs');
  const answer = await client.post('/v1/operations/repairs', asked);
  expectProblem(answer, 'invalid_input');
  expect(answer.body.errors).toContainEqual(expect.objectContaining({ path }));
  expect(await asOwner(world, 'select * from event_repairs')).toEqual(before);
});

test('what does not exist is not found', async () => {
  await prove();
  for (const path of ['events/x', `events/${newId()}`, `events/${newId()}/runs`, `repairs/${newId()}`])
    expectProblem(await client.get(`/v1/operations/${path}`), 'not_found');
  expectProblem(await client.post(`/v1/operations/repairs/${newId()}/stop`, { reason }), 'not_found');
});

describe('who operates the installation', () => {
  const reads = [url, '/v1/operations/delivery-counts', `/v1/operations/events/${newId()}`];
  const repair = { operation: 'retry', all: true, reason };

  async function expectRefused(by: TestClient, code: 'permission_denied' | 'second_factor_required') {
    for (const path of [...reads, `/v1/operations/events/${newId()}/runs`, `/v1/operations/repairs/${newId()}`])
      expectProblem(await by.get(path), code, path);
    expectProblem(await by.post('/v1/operations/repairs', repair), code);
    expectProblem(await by.post(`/v1/operations/repairs/${newId()}/stop`, { reason }), code);
  }

  test('no role of an organization, and nobody who acts for an operator', async () => {
    for (const role of ['owner', 'super_admin', 'admin', 'member', 'auditor'] as const) {
      const by = await signedIn(world, await buildPerson(world, { organization: operator.organization, role }));
      await expectRefused(by, 'permission_denied');
    }
    const expires = new Date(world.clock.now().getTime() + 86_400_000).toISOString();
    await prove();
    const issued = await client.post('/v1/personal-access-tokens', {
      name: 'all',
      scopes: ['task:write'],
      expires_at: expires,
    });
    expect(issued.status, JSON.stringify(issued.body)).toBe(201);
    const program = world.client();
    program.bearer = issued.body.token;
    await expectRefused(program, 'permission_denied');

    const home = await buildPerson(world);
    const hidden = await buildPerson(world, { organization: home.organization, role: 'member' });
    await command('grant', hidden.user.email);
    const begun = await (
      await signedIn(world, home)
    ).post('/v1/impersonation', {
      user_id: hidden.user.id,
      reason: 'a member asked for help',
    });
    const acting = world.client();
    acting.bearer = begun.body.access_token;
    await expectRefused(acting, 'permission_denied');
  });

  test('has a second factor, and proves it before changes', async () => {
    const person = await buildPerson(world);
    const by = await signedIn(world, person);
    await command('grant', person.user.id);
    await expectRefused(by, 'second_factor_required');
    await enroll(world, by);
    expect((await by.get(url)).status).toBe(200);
    world.clock.advance(11 * 60_000);
    await by.post('/v1/refresh');
    expect((await by.get(url)).status).toBe(200);
    expectProblem(await by.post('/v1/operations/repairs', repair), 'step_up_required');
    expectProblem(await by.post(`/v1/operations/repairs/${newId()}/stop`, { reason }), 'step_up_required');
  });

  test('is granted and revoked at the command line alone, on record, and at once', async () => {
    const person = await buildPerson(world);
    const by = await signedIn(world, person);
    await enroll(world, by);
    await expectRefused(by, 'permission_denied');
    expect(await command('revoke', person.user.email)).toMatchObject({ isDone: false });
    expect(await command('grant', person.user.email)).toMatchObject({ isDone: true });
    expect(await command('grant', person.user.id)).toMatchObject({ isDone: false });
    expect((await by.get(url)).status).toBe(200);
    expect(await command('revoke', person.user.email)).toMatchObject({ isDone: true });
    await expectRefused(by, 'permission_denied');
    const { text } = await run({ name: 'list' });
    expect(text).toMatch(
      new RegExp(
        `${person.user.id} {2}since .*, by somebody@machine: ${reason} {2}until .*, by somebody@machine: ${reason}`,
      ),
    );
    for (const unknown of ['nobody@example.com', newId()])
      expect(await command('grant', unknown)).toMatchObject({ isDone: false });
    const unconfirmed = await buildPerson(world, { isConfirmed: false });
    expect(await command('grant', unconfirmed.user.email)).toMatchObject({ isDone: false });
  });

  test('and nothing that answers requests can grant it', () => {
    const root = new URL('../../../', import.meta.url);
    const files = ['api', 'activities', 'relay', 'worker', 'workflows'].flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => `${folder}/${file}`),
    );
    expect(files.length).toBeGreaterThan(100);
    const granting = files.filter((file) =>
      /grantOperator|insert into operators/.test(readFileSync(new URL(file, root), 'utf8')),
    );
    expect(granting).toEqual([]);
  });
});
