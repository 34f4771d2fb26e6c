import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership } from '#entities/index.ts';
import { errorCatalogue } from '#entities/kit/base/error-catalogue.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPart, buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const switching = (id: string) => `POST /v1/switch {"target_organization_id": "${id}"}`;

describe('a change in an organization other than the current one', () => {
  let elsewhere: string;
  beforeAll(async () => {
    const { body } = await client.post('/v1/organizations', { name: `Elsewhere ${newId()}` });
    elsewhere = body.id;
  });

  test('says which is current and how to switch, over REST and GraphQL', async () => {
    const url = `/v1/organizations/${elsewhere}`;
    const changed = await client.mutate({ method: 'PATCH', url, payload: { description: 'mine' } });
    const deleted = await client.mutate({ method: 'DELETE', url });
    const child = await client.post('/v1/organizations', { name: 'Below elsewhere', parent_id: elsewhere });
    for (const answer of [changed, deleted, child]) {
      expectProblem(answer, 'permission_denied');
      expect(answer.body.detail).toContain(`you act in ${owner.organization.id}, and this belongs to ${elsewhere}`);
      expect(answer.body.detail).toContain(switching(elsewhere));
    }
    const update =
      'mutation ($id: ID!) { updateOrganization(id: $id, input: { description: "mine" }) { organization { id } } }';
    const answer = await client.graphql(update, { id: elsewhere });
    expectGraphqlError(answer, 'permission_denied');
    expect(answer.errors?.[0]?.message).toContain(switching(elsewhere));
  });

  test('of a membership or of the ownership, too; what it says is true', async () => {
    const member = await buildPerson(world);
    await asSystem(world, elsewhere, (data) => data.create(membership, { userId: member.user.id, role: 'member' }));
    const by = await signedIn(world, owner);
    const own = await by.get(`/v1/account/memberships?organization_id=${elsewhere}`);
    const url = `/v1/memberships/${own.body.data[0].id}`;
    const refused = await by.mutate({ method: 'PATCH', url, payload: { role: 'admin' } });
    expect(refused.body.detail).toContain(switching(elsewhere));
    const transfer = `/v1/organizations/${elsewhere}/transfer-ownership`;
    const kept = await by.post(transfer, { user_id: member.user.id });
    expectProblem(kept, 'permission_denied');
    expect(kept.body.detail).toContain(switching(elsewhere));
    expect((await by.post('/v1/switch', { target_organization_id: elsewhere })).status).toBe(200);
    expect((await by.post(transfer, { user_id: member.user.id })).status).toBe(200);
  });

  test('where the caller lacks the right in the current one says nothing about others', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const url = `/v1/organizations/${owner.organization.id}`;
    const answer = await (await signedIn(world, member)).mutate({ method: 'PATCH', url, payload: { name: 'theirs' } });
    expectProblem(answer, 'permission_denied');
    expect(answer.body.detail).not.toContain('/v1/switch');
  });

  test('that the header X-Organization-ID asks for with an access token is refused, and not done in the current one', async () => {
    const headers = { 'x-organization-id': elsewhere };
    for (const answer of [
      await client.post('/v1/tasks', { title: 'where?' }, headers),
      await client.get('/v1/tasks', headers),
    ]) {
      expectProblem(answer, 'invalid_input');
      expect(answer.body.detail).toContain(switching(elsewhere));
    }
    const same = await client.get('/v1/tasks', { 'x-organization-id': owner.organization.id });
    expect([same.status, same.body.data]).toEqual([200, []]);
  });

  test('through organization_id in a body or a filter says how to switch', async () => {
    const created = await client.post('/v1/tasks', { title: 'x', organization_id: elsewhere });
    const listed = await client.get(`/v1/tasks?organization_id=${elsewhere}`);
    const where = await client.graphql('{ tasks(where: { organizationId: { eq: "x" } }) { totalCount } }');
    for (const text of [created.body.detail, listed.body.detail, where.errors?.[0]?.message])
      expect(text).toMatch(/organization in which you act; POST \/v1\/switch acts in another one/);
  });
});

describe('who acts in no organization, because it was deleted or they were removed,', () => {
  const list = '{ tasks { totalCount } }';

  async function expectRemedy(by: TestClient): Promise<void> {
    const answers = [
      await by.get('/v1/tasks'),
      await by.get('/v1/tasks/aggregates'),
      await by.get(`/v1/tasks/${newId()}`),
      await by.post('/v1/tasks', { title: 'nowhere' }),
    ];
    for (const answer of answers) {
      expectProblem(answer, 'no_current_organization', answer.url);
      expect(answer.body.detail).toContain('GET /v1/organizations');
      expect(answer.body.detail).toContain('POST /v1/switch');
    }
    for (const query of [list, '{ search(query: "anything") { tasks { totalCount } } }'])
      expectGraphqlError(await by.graphql(query), 'no_current_organization');
  }

  test('hears so from lists, records, searches and creations, and how to go on', async () => {
    const person = await buildPerson(world);
    const by = await signedIn(world, person);
    const { body: other } = await by.post('/v1/organizations', { name: `Other ${newId()}` });
    expect((await by.mutate({ method: 'DELETE', url: `/v1/organizations/${person.organization.id}` })).status).toBe(
      204,
    );
    await expectRemedy(by);
    // What is their own is theirs everywhere, and leads on.
    expect((await by.get('/v1/organizations')).body.data.map(({ id }: { id: string }) => id)).toEqual([other.id]);
    expect((await by.get('/v1/account/memberships')).body.data).toHaveLength(1);
    expect((await by.get('/v1/organization-removals')).status).toBe(200);
    expect((await by.post('/v1/switch', { target_organization_id: other.id })).status).toBe(200);
    expect((await by.get('/v1/tasks')).status).toBe(200);
  });

  test('hears the same after being removed', async () => {
    const leaver = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const by = await signedIn(world, leaver);
    const { body } = await client.get(`/v1/memberships?user_id=${leaver.user.id}`);
    expect((await client.mutate({ method: 'DELETE', url: `/v1/memberships/${body.data[0].id}` })).status).toBe(204);
    await expectRemedy(by);
  });
});

test('memberships of an organization are found by it, over REST and GraphQL', async () => {
  const part = await buildPart(world, null);
  await asSystem(world, part.id, (data) => data.create(membership, { userId: owner.user.id, role: 'auditor' }));
  const { body } = await client.get(`/v1/account/memberships?organization_id=${part.id}`);
  expect(body.data).toMatchObject([{ organization_id: part.id, role: 'auditor' }]);
  const listed = await client.get(`/v1/account/memberships?organization_id[in]=${part.id},${newId()}`);
  expect(listed.body.data).toHaveLength(1);
  expect((await client.get('/v1/memberships?organization_id=nonsense')).body.errors).toEqual([
    { path: '/organization_id', message: 'is not an id; it is "nonsense"' },
  ]);
  const query =
    'query ($id: ID!) { self { memberships(where: { organizationId: { eq: $id } }) { edges { node { role } } } } }';
  const { data } = await client.graphql(query, { id: part.id });
  expect(data.self.memberships.edges).toEqual([{ node: { role: 'AUDITOR' } }]);
});

test('a note about nothing is what the description says: seen by its author and the owners alone', async () => {
  const author = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const made = await (await signedIn(world, author)).post('/v1/notes', { text: 'to myself' });
  expect(made.status).toBe(201);
  expect((await client.get(`/v1/notes/${made.body.id}`)).status).toBe(200);
  expectProblem(await (await signedIn(world, colleague)).get(`/v1/notes/${made.body.id}`), 'not_found');
  const { body } = await client.get('/openapi.json');
  expect(body.tags.find(({ name }: { name: string }) => name === 'Notes').description).toMatch(
    /Without either it is a note of its own, which only its author and the owners of the organization see/,
  );
});

test('a display id in place of an id is answered with the way to the id', async () => {
  const { body: task } = await client.post('/v1/tasks', { title: 'shown' });
  const url = `/v1/tasks/${task.display_id}`;
  const answers = [
    await client.get(url),
    await client.mutate({ method: 'PATCH', url, payload: { title: 'changed' } }),
    await client.mutate({ method: 'DELETE', url }),
  ];
  for (const answer of answers) {
    expectProblem(answer, 'not_found');
    expect(answer.body.detail).toContain('This is a display id, and an id is expected: the filter "display_id"');
  }
  const note = await client.post('/v1/notes', { text: 'about it', task_id: task.display_id });
  expect(note.body.errors).toEqual([{ path: '/task_id', message: expect.stringContaining('This is a display id') }]);
  for (const query of ['query ($id: ID!) { task(id: $id) { id } }', 'query ($id: ID!) { node(id: $id) { id } }']) {
    const answer = await client.graphql(query, { id: task.display_id });
    expectGraphqlError(answer, 'not_found');
    expect(answer.errors?.[0]?.message).toContain('This is a display id');
  }
  // What the answers say works.
  const found = await client.get(`/v1/tasks?display_id=${task.display_id}`);
  expect(found.body.data).toMatchObject([{ id: task.id }]);
  expect((await client.get('/v1/tasks/TSK-1')).body.detail).toBe('There is no Task "TSK-1". This is not an id.');
  const five = await client.graphql('query ($id: ID!) { task(id: $id) { id } }', { id: '5' });
  expectGraphqlError(five, 'not_found');
  expect(five.errors?.[0]?.message).toBe('There is no Task "5". This is not an id.');
});

describe('a proof of identity', () => {
  test('that is missing or of another kind says what to send', async () => {
    const by = await signedIn(world, await buildPerson(world));
    const problems = async (payload: object) => (await by.post('/v1/2fa/step-up', payload)).body.errors;
    expect(await problems({})).toEqual([
      { path: '/code', message: 'is missing; send it, or recovery_code, or password if you have no second factor' },
    ]);
    expect(await problems({ code: '123456' })).toEqual([
      { path: '/password', message: 'is needed in place of a code, because you have no second factor' },
    ]);
    expect(await problems({ code: '123456', password: 'a password' })).toEqual([
      { path: '/password', message: 'cannot be sent together with code or recovery_code; send one of them' },
    ]);
  });

  test('that is too old is asked for with its fields', async () => {
    const person = await buildPerson(world);
    const by = await signedIn(world, person);
    world.clock.advance(11 * 60_000);
    const answer = await by.post('/v1/2fa/setup', {});
    expectProblem(answer, 'step_up_required');
    for (const word of ['/v1/2fa/step-up', 'code', 'recovery_code', 'password', 'ten minutes'])
      expect(answer.body.detail).toContain(word);
  });
});

test('a value that can also be null is refused with what it must be, once', async () => {
  const { body } = await client.post('/v1/personal-access-tokens', {
    name: 'mine',
    scopes: ['task:read'],
    expires_at: 'soon',
  });
  expect(body.errors).toEqual([
    { path: '/expires_at', message: 'must be a timestamp such as 2026-01-31T12:00:00Z; it is "soon"' },
  ]);
});

describe('a guessed URL of a file', () => {
  test('is answered with the place of the right one', async () => {
    const { body } = await client.post('/v1/exports', { record_kind: 'task' });
    for (const word of ['content', 'download', 'file', 'document']) {
      const answer = await client.get(`/v1/exports/${body.id}/${word}`);
      expectProblem(answer, 'route_not_found');
      expect(answer.body.detail).toContain(`GET /v1/exports/${body.id} has the URL of the file in content.url`);
    }
    expect((await client.get(`/v1/users/${owner.user.id}/avatar`)).body.detail).toContain('in avatar.url');
    expect((await client.get(`/v1/tags/${newId()}/content`)).body.detail).not.toContain('.url');
  });
});

describe('the filter of a record that describes a list', () => {
  const exported = (filters: object) => client.post('/v1/exports', { record_kind: 'task', filters });

  test.each([
    { due_at: { gte: '2026-01-01T00:00:00Z' } },
    { dueAt: { gte: '2026-01-01T00:00:00Z' } },
    { not: { due_at: { is_null: true } }, status: { not_in: ['wont_do'] } },
  ])('has names as in REST or as in GraphQL: %j', async (filters) => {
    expect((await exported(filters)).status).toBe(201);
    const input = { name: newId(), record_kind: 'task', filter: filters, order_by: ['-due_at'], columns: ['due_at'] };
    const view = await client.post('/v1/saved-views', input);
    expect(view.status, JSON.stringify(view.body)).toBe(201);
    expect((await client.get(`/v1/tasks?view=${view.body.id}`)).status).toBe(200);
  });

  test.each([
    [{ due_att: { gte: 'x' } }, '/filters/due_att', 'did you mean "due_at"?'],
    [{ dueAtt: { gte: 'x' } }, '/filters/dueAtt', 'did you mean "due_at"?'],
    [{ due_at: { gte: 'x' } }, '/filters/due_at/gte', 'must be a timestamp'],
    [{ dueAt: { gte: 'x' } }, '/filters/dueAt/gte', 'must be a timestamp'],
    [{ or: [{ due_at: { is_nul: true } }] }, '/filters/or/0/due_at/is_nul', 'is_null'],
  ])('names the problem of %j as it was sent', async (filters, path, message) => {
    const answer = await exported(filters);
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  test('has the names of GraphQL in its answers', async () => {
    const answer = await client.graphql(
      'mutation ($filters: JSON) { createExport(input: { recordKind: "task", filters: $filters }) { export { id } } }',
      { filters: { dueAtt: {} } },
    );
    expectGraphqlError(answer, 'invalid_input');
    expect(answer.errors?.[0]?.message).toContain('did you mean "dueAt"?');
  });
});

test('a preference for topics that no notification has is refused, over REST and GraphQL', async () => {
  const message = expect.stringContaining('did you mean "task.*"?); topics are export.completed');
  const refused = await client.post('/v1/notification-preferences', { channel: 'email', topic_pattern: 'tasks.*' });
  expect(refused.body.errors).toEqual([{ path: '/topic_pattern', message }]);
  const answer = await client.graphql(
    'mutation { createNotificationPreference(input: { channel: EMAIL, topicPattern: "tasks.*" }) { notificationPreference { id } } }',
  );
  expectGraphqlError(answer, 'invalid_input');
  expect(answer.errors?.[0]?.extensions).toMatchObject({ errors: [{ path: '/topicPattern', message }] });
  const taken = await client.post('/v1/notification-preferences', { channel: 'email', topic_pattern: 'export.*' });
  expect(taken.status).toBe(201);
});

test('a problem of a filter or an order of GraphQL has the name of its argument, in variables and in documents', async () => {
  const paths = [{ path: '/where/titel' }, { path: '/orderBy/0/field' }];
  const variables = { where: { titel: { eq: 'x' } }, orderBy: [{ field: 'x' }] };
  const query =
    'query ($where: TaskWhere, $orderBy: [TaskOrder!]) { tasks(where: $where, orderBy: $orderBy) { totalCount } }';
  const sent = await client.graphql(query, variables);
  expect(sent.errors?.[0]?.extensions['errors']).toMatchObject(paths);
  expect(sent.errors?.[0]?.message).toContain('orderBy/0/field must be one of');
  const written = await client.graphql(
    '{ tasks(where: { titel: { eq: "x" } }, orderBy: [{ field: x }]) { totalCount } }',
  );
  expect(
    written.errors?.flatMap(({ extensions }: { extensions: Record<string, unknown> }) => extensions['errors']),
  ).toMatchObject(paths);
  const input = await client.graphql('mutation { createTask(input: { title: "t", titel: "x" }) { task { id } } }');
  expect(input.errors?.[0]?.extensions['errors']).toMatchObject([{ path: '/titel' }]);
});

test('problems over REST have the names of REST', async () => {
  const preference = { channel: 'in_app', quiet_hours_start: '22:00' };
  const unpaired = await client.post('/v1/notification-preferences', preference);
  expect(unpaired.body.errors).toEqual([
    { path: '/quiet_hours_end', message: 'is required where quiet_hours_start has a value' },
  ]);
  const input = { name: `Taken ${newId()}` };
  expect((await client.post('/v1/organizations', input)).status).toBe(201);
  const taken = await client.post('/v1/organizations', input);
  expectProblem(taken, 'already_exists');
  expect(taken.body.errors).toMatchObject([{ path: '/name' }]);
});

test('a switch with a name of its parameter that it does not have says which is meant', async () => {
  const { body } = await client.post('/v1/switch', { organization_id: owner.organization.id });
  expect(body.errors).toContainEqual({
    path: '/organization_id',
    message: 'is not a known field; did you mean "target_organization_id"?',
  });
});

test('every error code has a cause and a remedy, on the page and in the table', async () => {
  const { body: page } = await client.get('/docs/errors');
  const seen = new Set<string>();
  for (const [code, { cause, remedy, title }] of Object.entries(errorCatalogue)) {
    for (const text of [cause, remedy]) {
      expect(text, code).toMatch(/^[A-Z`].{15,}\.$/s);
      expect(text, code).not.toBe(title);
    }
    seen.add(cause);
    const row = String(page).split(`<tr id="${code}">`)[1]?.split('</tr>')[0] ?? '';
    expect(row.match(/<td /g), code).toHaveLength(5);
  }
  expect(seen.size).toBe(Object.keys(errorCatalogue).length);
});
