import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  apiToken as apiTokenKind,
  membership,
  note,
  organization,
  personalAccessToken,
  registry,
  task,
  user,
} from '#entities/index.ts';
import { callerOfToken, readPrincipalState } from '#entities/kit/access/principal-state.ts';
import { systemCaller, type Caller, type Role } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { hasObjectRights } from '#entities/kit/model/policy.ts';
import { scopeVerbs } from '#entities/kit/model/scope-relations.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { isOpenToTokens, offeredScopes } from '#entities/kit/model/scopes.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem, transactAs } from '../../kit/as-person.ts';
import { AuthorizationFixtures } from '../../kit/records/authorization-fixtures.ts';
import { evaluatorsFor } from '../../kit/records/both-evaluators.ts';
import { expectClosed, isForPeople } from '../../kit/processes/closed-routes.ts';
import { sampleOf } from '../../kit/depth.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { mailsTo, unfolded, waitForMails } from '../../kit/mailbox.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { triedKinds } from '../../kit/tried-kinds.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let world: World;
let elsewhere: Instance;
let owner: Person;
let client: TestClient;
/** Texts of the statements of requests. */
const statements: string[] = [];

const key = (letter: string) => letter.repeat(40);

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    observers: [requestStatements(statements)],
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: key('f') },
  });
  elsewhere = await world.openInstance();
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

/** A program that shows a token. */
function program(token: string, instance: Pick<World, 'client'> = world): TestClient {
  const made = instance.client();
  made.bearer = token;
  return made;
}

async function created(by: TestClient, path: string, body: object): Promise<TestAnswer['body']> {
  const answer = await by.post(path, { name: 'a program', ...body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

const apiToken = (scopes: readonly string[], more: object = {}, by = client) =>
  created(by, '/v1/api-tokens', { scopes, ...more });
const personalToken = (scopes: readonly string[], more: object = {}, by = client) =>
  created(by, '/v1/personal-access-tokens', { scopes, ...more });

const removed = (url: string, by = client) => by.mutate({ method: 'DELETE', url });

function buildTask(person: Person, title: string): Promise<{ readonly id: string }> {
  return asSystem(world, person.organization.id, (data) => data.create(task, { title }));
}

function colleague(role: Role): Promise<Person> {
  return buildPerson(world, { organization: owner.organization, role });
}

async function set(module: EntityModule, id: string, values: object): Promise<void> {
  await asSystem(world, owner.organization.id, (data) => data.privileged('test').update(module, id, values as never));
}

async function leave({ user: { id } }: Person, from: Person): Promise<void> {
  await asSystem(world, from.organization.id, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: id } });
    await data.remove(membership, held?.id ?? '');
  });
}

/** In this process, which has seen the token before, and in another. */
async function expectRefused(token: string, headers: Record<string, string> = {}): Promise<void> {
  for (const instance of [world, elsewhere]) {
    expectProblem(await program(token, instance).get('/v1/tasks', headers), 'unauthenticated');
    const posted = await program(token, instance).request({
      method: 'POST',
      url: '/v1/tasks',
      headers,
      payload: { title: 'x' },
    });
    expectProblem(posted, 'unauthenticated');
  }
}

async function expectAccepted(token: string, headers: Record<string, string> = {}): Promise<void> {
  for (const instance of [world, elsewhere])
    for (let again = 0; again < 2; again++)
      expect((await program(token, instance).get('/v1/tasks', headers)).status).toBe(200);
}

describe('an API token', () => {
  test('reads what its scopes allow, until it is deleted', async () => {
    const { id } = await buildTask(owner, 'read by a program');
    const made = await apiToken(['task:read']);
    expect(made.token).toMatch(new RegExp(`^core_${made.id}_[\\w-]{43}$`));
    expect(made.hint).toBe(made.token.slice(-4));
    const reader = program(made.token);
    expect((await reader.get(`/v1/tasks/${id}`)).body).toMatchObject({ id, title: 'read by a program' });
    expectProblem(await reader.post('/v1/tasks', { title: 'x' }), 'permission_denied');
    expectProblem(await reader.get('/v1/notes'), 'permission_denied');
    expect((await reader.graphql('{ self { id } }')).data.self).toBeNull();
    await expectAccepted(made.token);
    expect((await removed(`/v1/api-tokens/${made.id}`)).status).toBe(204);
    await expectRefused(made.token);
  });

  test('changes what its scopes allow, as itself, and needs no CSRF token', async () => {
    const writer = await apiToken(['task:write', 'user:read']);
    const made = await program(writer.token).post('/v1/tasks', { title: 'of a program' });
    expect(made.status).toBe(201);
    expectProblem(await removed(`/v1/tasks/${made.body.id}`, program(writer.token)), 'permission_denied');
    // The editors of a task may delete its subtasks; a token needs the scope for it.
    const below = await program(writer.token).post('/v1/tasks', { title: 'below', parent_id: made.body.id });
    expectProblem(await removed(`/v1/tasks/${below.body.id}`, program(writer.token)), 'permission_denied');
    const remover = await apiToken(['task:delete']);
    expect((await removed(`/v1/tasks/${made.body.id}`, program(remover.token))).status).toBe(204);
    const actors = await asOwner<{ actor: string }>(
      world,
      'select actor from history where entity_id = $1 order by record_version',
      [made.body.id],
    );
    expect(actors.map(({ actor }) => actor)).toEqual([`api_token:${writer.id}`, `api_token:${remover.id}`]);
  });

  test('is shown once; records, lists and history have no more than its last characters', async () => {
    const { token, id } = await apiToken(['task:read'], { description: 'nightly', expires_at: '2090-01-01T00:00:00Z' });
    const secret = token.slice(token.lastIndexOf(id) + 27);
    const [row] = await asOwner<{ row: string; hash: string }>(
      world,
      'select t::text as row, secret_hash as hash from api_tokens t where id = $1',
      [id],
    );
    expect(row?.row).not.toContain(secret);
    const read = await client.get(`/v1/api-tokens/${id}`);
    expect(read.body).toMatchObject({ description: 'nightly', scopes: ['task:read'], hint: secret.slice(-4) });
    const shown = [
      read.body,
      (await client.get('/v1/api-tokens')).body,
      (await client.graphql('{ apiTokens { edges { node { id name hint scopes } } } }')).body,
      (await client.graphql('{ apiTokenHistories { edges { node { recordId hint scopes } } } }')).body,
    ].map((body) => JSON.stringify(body));
    for (const text of shown) {
      expect(text).toContain(id);
      for (const hidden of [secret, row?.hash ?? '', 'key_id', 'keyId', 'secret_hash'])
        expect(text).not.toContain(hidden);
    }
  });

  test('is created, rotated and deleted over GraphQL', async () => {
    const input = { name: 'over GraphQL', scopes: ['task:read', 'task:read'] };
    const answer = await client.graphql(
      'mutation ($input: CreateApiTokenInput!) { createApiToken(input: $input) { apiToken { id name scopes } token } }',
      { input },
    );
    const { apiToken: made, token } = answer.data.createApiToken;
    expect(made).toEqual({ id: expect.any(String), name: 'over GraphQL', scopes: ['task:read'] });
    await expectAccepted(token);
    const rotated = await client.graphql(
      'mutation ($id: ID!) { rotateApiToken(id: $id) { apiToken { hint } token } }',
      {
        id: made.id,
      },
    );
    const next = rotated.data.rotateApiToken;
    expect(next.apiToken.hint).toBe(next.token.slice(-4));
    await expectRefused(token);
    await expectAccepted(next.token);
    await client.graphql('mutation ($id: ID!) { deleteApiToken(id: $id) { deletedId } }', { id: made.id });
    await expectRefused(next.token);
  });

  test('T-01: ends with its organization, not with who created it', async () => {
    const founder = await buildPerson(world);
    // Who stays owner.
    await buildPerson(world, { organization: founder.organization });
    const { token } = await apiToken(['task:read'], {}, await signedIn(world, founder));
    await set(user, founder.user.id, { status: 'deactivated' });
    await leave(founder, founder);
    await expectAccepted(token);
    await asSystem(world, founder.organization.id, (data) => data.remove(organization, founder.organization.id));
    await expectRefused(token);
  });

  test('expires', async () => {
    const at = new Date(world.clock.now().getTime() + 60_000).toISOString();
    const { token, id } = await apiToken(['task:read'], { expires_at: at });
    await expectAccepted(token);
    world.clock.advance(60_000);
    await expectRefused(token);
    client = await signedIn(world, owner);
    expectProblem(await client.post(`/v1/api-tokens/${id}/rotate`), 'token_expired');
    const past = await client.post('/v1/api-tokens', { name: 'x', scopes: ['task:read'], expires_at: at });
    expectProblem(past, 'invalid_input');
    expect(past.body.errors).toEqual([{ path: '/expires_at', message: 'is not in the future' }]);
  });

  test.each(['/v1/api-tokens', '/v1/personal-access-tokens'])(
    'of %s expires after 90 days, unless null is sent, over REST and GraphQL',
    async (path) => {
      const values = { name: 'a program', scopes: ['task:read'] };
      const inNinetyDays = new Date(world.clock.now().getTime() + 90 * 86_400_000).toISOString();
      expect((await client.post(path, values)).body.expires_at).toBe(inNinetyDays);
      const lasting = await client.post(path, { ...values, expires_at: null });
      expect(lasting.body).toMatchObject({ name: values.name, expires_at: null });
      const type = path === '/v1/api-tokens' ? 'ApiToken' : 'PersonalAccessToken';
      const kind = type[0]?.toLowerCase() + type.slice(1);
      const byGraphql = async (input: object) => {
        const { data } = await client.graphql(
          `mutation ($input: Create${type}Input!) { create${type}(input: $input) { ${kind} { expiresAt } } }`,
          { input },
        );
        return data[`create${type}`][kind].expiresAt;
      };
      expect(new Date(await byGraphql(values)).toISOString()).toBe(inNinetyDays);
      expect(await byGraphql({ ...values, expiresAt: null })).toBeNull();
    },
  );

  test('acts in its organization only', async () => {
    const stranger = await buildPerson(world);
    const { id } = await buildTask(stranger, 'foreign');
    const { token } = await apiToken(['task:delete']);
    expectProblem(await program(token).get(`/v1/tasks/${id}`), 'not_found');
    expectProblem(await removed(`/v1/tasks/${id}`, program(token)), 'not_found');
    await expectRefused(token, { 'x-organization-id': stranger.organization.id });
    const misled = await program(token).get('/v1/tasks', { 'x-organization-id': stranger.organization.id });
    expect(misled.body.detail).toContain('X-Organization-ID must name an organization in which the token is valid');
    await expectAccepted(token, { 'x-organization-id': owner.organization.id });
    expectProblem(await program(token).get('/v1/tasks', { 'x-organization-id': 'theirs' }), 'invalid_input');
  });

  test('is a subject of the authorization store with the relations of its scopes, until it is deleted', async () => {
    const { id } = await apiToken(['task:read', 'note:delete']);
    const relations = () =>
      asOwner<{ relation: string }>(
        world,
        `select relation from desired_tuples where subject = $1 and object = $2 and present order by relation`,
        [`service:${id}`, `organization:${owner.organization.id}`],
      ).then((rows) => rows.map(({ relation }) => relation));
    expect(await relations()).toEqual(['can_delete_note', 'can_view_task']);
    const { store } = world.runtime;
    const check = (relation: string) =>
      store?.check({
        object: `organization:${owner.organization.id}`,
        relation,
        subject: `service:${id}`,
        context: [],
      });
    await eventually(async () => (await check('can_edit_note')) === true);
    expect(await check('can_edit_task')).toBe(false);
    await removed(`/v1/api-tokens/${id}`);
    expect(await relations()).toEqual([]);
    await eventually(async () => (await check('can_edit_note')) === false);
  });

  test('records its last use once a minute, without a version', async () => {
    const { token, id } = await apiToken(['task:read']);
    const used = async () => (await client.get(`/v1/api-tokens/${id}`)).body;
    expect(await used()).toMatchObject({ last_used_at: null, record_version: 1 });
    await program(token).get('/v1/tasks');
    const first = await eventually(async () => (await used()).last_used_at as string | null);
    world.clock.advance(30_000);
    const { token: other, id: otherId } = await apiToken(['task:read']);
    await expectAccepted(token);
    await program(other).get('/v1/tasks');
    await eventually(async () => (await client.get(`/v1/api-tokens/${otherId}`)).body.last_used_at as string | null);
    expect(await used()).toMatchObject({ last_used_at: first, record_version: 1 });
    world.clock.advance(30_000);
    await program(token).get('/v1/tasks');
    await eventually(async () => (await used()).last_used_at !== first);
  });
});

describe('rows and the authorization store agree on what a token may do', () => {
  interface Case {
    readonly module: EntityModule;
    /** The scope besides those of other kinds. */
    readonly verb: (typeof scopeVerbs)[number];
    readonly sort: 'api' | 'personal';
  }
  interface Tried extends Pick<Case, 'module' | 'sort'> {
    readonly scopes: readonly string[];
    readonly token: string;
  }
  const asked = triedKinds(registry.modules).filter(
    (module) => hasObjectRights(module.policy) && isOpenToTokens(module),
  );
  const offered = { api: offeredScopes(registry, 'api'), personal: offeredScopes(registry, 'personal') };
  const all = asked.flatMap((module) =>
    (['api', 'personal'] as const).flatMap((sort) =>
      scopeVerbs
        .filter((verb) => offered[sort].includes(`${module.topic}:${verb}`))
        .map((verb): Case => ({ module, verb, sort })),
    ),
  );
  const cases = sampleOf('tokens and both evaluators', all, {
    by: [({ module, sort }) => `${module.kind} ${sort}`, ({ verb, sort }) => `${verb} ${sort}`],
  });

  /** The caller that a token stands for, by the rows of now. */
  async function callerOf(token: string): Promise<Caller> {
    const presented = world.api.services.apiTokens.read(token, owner.organization.id);
    if (!presented) throw new Error('it is no token');
    const work = { deadline: Date.now() + 30_000, traceparent: '' };
    const { state } = await readPrincipalState(world.runtime.database, presented, work);
    return callerOfToken(presented, state, await world.runtime.contextOfCallers());
  }

  test('with the scope of a kind alone, and with those of all others besides', async () => {
    const fixtures = new AuthorizationFixtures(world, owner);
    const member = await colleague('member');
    const by = await signedIn(world, member);
    const tried: Tried[] = [];
    for (const { module, verb, sort } of cases) {
      const others = offered[sort].filter((scope) => !scope.startsWith(`${module.topic}:`));
      const own = `${module.topic}:${verb}`;
      for (const scopes of [[own], [own, ...others], ...(sort === 'api' ? [others] : [])]) {
        const token = sort === 'api' ? await apiToken(scopes) : await personalToken(scopes, {}, by);
        tried.push({ module, scopes, sort, token: token.token as string });
      }
    }
    const kinds = new Set(tried.map(({ module }) => module));
    const records = new Map<EntityModule, string[]>();
    for (const module of kinds) {
      const found = [
        await fixtures.record(module.kind, 'any'),
        await fixtures.record(module.kind, 'any', member.user.id),
      ];
      records.set(
        module,
        found.map(({ id }) => id),
      );
    }
    // The store is asked once it has all tuples, and not before: there is nothing to wait for then.
    await eventually(async () => {
      await world.runtime.tuples?.apply();
      const waiting = 'select 1 from desired_tuples where applied_version < version limit 1';
      return (await asOwner(world, waiting)).length === 0;
    });
    let allowed = 0;
    const compare = async ({ module, scopes, sort, token }: Tried) => {
      const caller = await callerOf(token);
      // An API token is nobody in particular.
      for (const id of records.get(module)?.slice(sort === 'api' ? 1 : 0) ?? []) {
        const { rows, store } = await evaluatorsFor(world, caller, { module, id });
        const about = `${sort} token with ${scopes.length} scopes such as ${scopes[0]}: ${module.kind} ${id}`;
        expect(store, about).toEqual(rows);
        allowed += rows.length;
        // Scopes of other kinds open nothing, whatever is above the record.
        if (!scopes.some((scope) => scope.startsWith(`${module.topic}:`))) expect(rows, about).toEqual([]);
      }
    };
    await Promise.all(tried.map(compare));
    recordTried('kinds, scopes and sorts of tokens', cases.length, all.length);
    expect(allowed).toBeGreaterThan(cases.length);
  });
});

test('the question who calls is sent together with what the request asks', async () => {
  for (const { token } of [await apiToken(['task:write']), await personalToken(['task:write'])]) {
    const writer = program(token);
    await writer.get('/v1/tasks');
    statements.length = 0;
    expect((await writer.get('/v1/tasks')).status).toBe(200);
    expect((await writer.post('/v1/tasks', { title: 'one flight' })).status).toBe(201);
    // It travels with the first statement; alone it would be reported.
    expect(statements.filter((text) => text.includes('token_context('))).toEqual([]);
  }
});

test('a revocation while requests run: whoever is answered later than the deletion is refused', async () => {
  const { token, id } = await apiToken(['task:read']);
  await expectAccepted(token);
  let isGone = false;
  const late: number[] = [];
  const readers = Array.from({ length: 10 }, async (_, index) => {
    const reader = program(token, index % 2 === 0 ? world : elsewhere);
    for (let again = 0; again < 20; again++) {
      const wasGone = isGone;
      const { status } = await reader.get('/v1/tasks');
      if (wasGone) late.push(status);
    }
  });
  await removed(`/v1/api-tokens/${id}`);
  isGone = true;
  await Promise.all(readers);
  expect(late.length).toBeGreaterThan(0);
  expect(late.filter((status) => status !== 401)).toEqual([]);
});

describe('whoever creates an API token', () => {
  test.each(['member', 'auditor'] as const)('is no %s', async (role) => {
    const by = await signedIn(world, await colleague(role));
    expectProblem(await by.post('/v1/api-tokens', { name: 'x', scopes: ['task:read'] }), 'permission_denied');
    const { id } = await apiToken(['task:read']);
    expectProblem(await by.get(`/v1/api-tokens/${id}`), 'not_found');
    expectProblem(await by.post(`/v1/api-tokens/${id}/rotate`), 'not_found');
  });

  test('gives it no right that they do not have on all records', async () => {
    const admin = await signedIn(world, await colleague('admin'));
    for (const scope of ['note:read', 'note:delete']) {
      const answer = await admin.post('/v1/api-tokens', { name: 'x', scopes: ['tag:delete', scope] });
      expectProblem(answer, 'permission_denied');
      expect(answer.body.detail).toContain(scope);
      expect(answer.body.detail).not.toContain('tag:delete');
    }
    await apiToken(['tag:delete'], {}, admin);
    // Nor do they get the secret of such a token.
    const { id, token } = await apiToken(['note:read']);
    expectProblem(await admin.post(`/v1/api-tokens/${id}/rotate`), 'permission_denied');
    expect((await program(token).get('/v1/notes')).status).toBe(200);
  });

  test('is told which scopes there are', async () => {
    const wrong = [
      'task:everything',
      'task',
      '*',
      'session:read',
      'api_token:write',
      'notification:write',
      'organization:delete',
    ];
    const answer = await client.post('/v1/api-tokens', { name: 'x', scopes: ['task:read', ...wrong] });
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors).toHaveLength(wrong.length);
    expect(answer.body.errors[0]).toEqual({ path: '/scopes/1', message: expect.stringContaining('task:write') });
    const all = offeredScopes(registry, 'api');
    const { scopes } = await apiToken(all);
    expect(scopes).toEqual(all);
  });

  test('and its owners are told by e-mail which token was created or got a new secret', async () => {
    const first = await buildPerson(world);
    const client = await signedIn(world, first);
    const made = await apiToken(['tag:read'], { name: 'Nightly export' }, client);
    const [mail = ''] = await waitForMails(world, first.user.email);
    expect(unfolded(mail)).toContain(
      `The API token of your organization =E2=80=9CNightly export=E2=80=9D was created. Its secret ends in ${made.hint}.`,
    );
    const { body: rotated } = await client.post(`/v1/api-tokens/${made.id}/rotate`, {});
    const later = (await waitForMails(world, first.user.email, 2)).find((other) => other !== mail) ?? '';
    expect(unfolded(later)).toContain(
      `The secret of the API token of your organization =E2=80=9CNightly export=E2=80=9D was replaced. The new secret ends in ${rotated.hint}.`,
    );
  });

  test('and the e-mail shows no name that is a link', async () => {
    const first = await buildPerson(world);
    const admin = await buildPerson(world, { organization: first.organization, role: 'admin' });
    const made = await apiToken(['tag:read'], { name: 'https://phishing.example' }, await signedIn(world, admin));
    for (const { user: told } of [first, admin]) {
      const [mail = ''] = await waitForMails(world, told.email);
      expect(mail).toContain(`ends in ${made.hint}`);
      expect(mail).not.toContain('phishing');
      expect(mail).not.toContain(made.token);
    }
  });
});

describe('a personal token', () => {
  test('acts for its person within its scopes', async () => {
    const member = await colleague('member');
    const by = await signedIn(world, member);
    const { token, user_id: userId } = await personalToken(['note:write'], {}, by);
    expect(token).toMatch(/^pat_/);
    expect(userId).toBe(member.user.id);
    const notes = program(token);
    const made = await notes.post('/v1/notes', { text: 'by a program' });
    expect(made.body).toMatchObject({ owner_id: member.user.id });
    expect((await by.get(`/v1/notes/${made.body.id}`)).status).toBe(200);
    const refused = await removed(`/v1/notes/${made.body.id}`, notes);
    expectProblem(refused, 'permission_denied');
    expect(refused.body.detail).toBe('This token does not have the scope note:delete.');
    expectProblem(await notes.get('/v1/tasks'), 'permission_denied');
    // What the person may not see, the token does not see either.
    const { id } = await asSystem(world, owner.organization.id, (data) =>
      data.create(note, { text: 'hidden', ownerId: owner.user.id }),
    );
    expectProblem(await notes.get(`/v1/notes/${id}`), 'not_found');
  });

  test('reaches records of other kinds on no detour', async () => {
    const { id } = await buildTask(owner, 'on no detour');
    await client.post('/v1/notes', { text: 'beside it' });
    const notes = program((await personalToken(['note:read'])).token);
    for (const query of [
      `{ node(id: "${id}") { id } }`,
      `{ nodes(ids: ["${id}"]) { id } }`,
      `{ taskHistories { edges { node { id } } } }`,
      `{ tasks(where: { id: { eq: "${id}" } }) { edges { node { id } } } }`,
      `{ taskSearch(query: "detour") { edges { node { id } } } }`,
      `{ search(query: "detour") { edges { node { id } } } }`,
      `{ notes { edges { node { text owner { id email } } } } }`,
      `mutation { updateTask(id: "${id}", input: { title: "x" }) { task { id } } }`,
      `mutation { deleteTask(id: "${id}") { id } }`,
      `mutation { updateTasks(ids: ["${id}"], input: { title: "x" }) { tasks { id } } }`,
    ]) {
      const answer = await notes.graphql(query);
      const text = JSON.stringify(answer.data ?? null);
      expect(text, query).not.toContain(id);
      expect(text, query).not.toContain(owner.user.email);
    }
    expect((await client.get(`/v1/tasks/${id}`)).body).toMatchObject({ title: 'on no detour', record_version: 1 });
  });

  test('T-01: ends with the account of its person, and with the membership', async () => {
    const member = await colleague('member');
    const by = await signedIn(world, member);
    const all = await personalToken(['task:read'], {}, by);
    const one = await personalToken(['task:read'], { organization_ids: [owner.organization.id] }, by);
    for (const { token } of [all, one]) await expectAccepted(token);
    await set(user, member.user.id, { status: 'suspended' });
    for (const { token } of [all, one]) await expectRefused(token);
    await set(user, member.user.id, { status: 'active' });
    for (const { token } of [all, one]) await expectAccepted(token);
    await leave(member, owner);
    for (const { token } of [all, one]) await expectRefused(token);
  });

  test('whose authorization for single sign-on is told to its person', async () => {
    const member = await colleague('member');
    const { id } = await personalToken(['task:read'], {}, await signedIn(world, member));
    const { id: organizationId } = owner.organization;
    await transactAs(world.runtime, systemCaller('test', organizationId), async (unit) => {
      const held = await unit.data.get(personalAccessToken, id);
      unit.emit(customEvent(personalAccessToken, 'authorized', held, { userId: member.user.id, organizationId }));
    });
    const told = await eventually(async () =>
      (await mailsTo(world, member.user.email)).find((mail) =>
        mail.includes('A token was authorized for single sign-on'),
      ),
    );
    expect(told).not.toContain('a program');
  });

  test('has the role of now', async () => {
    const admin = await colleague('admin');
    const { token } = await personalToken(['tag:delete'], {}, await signedIn(world, admin));
    const name = () => ({ name: `tag ${newId()}` });
    expect((await program(token).post('/v1/tags', name())).status).toBe(201);
    const held = await asSystem(world, owner.organization.id, (data) =>
      data.findOne(membership, { userId: { eq: admin.user.id } }),
    );
    await set(membership, held?.id ?? '', { role: 'auditor' });
    expectProblem(await program(token).post('/v1/tags', name()), 'permission_denied');
  });

  test('acts in the organizations that it lists, of those of its person', async () => {
    const other = await buildPerson(world);
    const third = await buildPerson(world);
    for (const { organization: joined } of [other, third])
      await asSystem(world, joined.id, (data) => data.create(membership, { userId: owner.user.id, role: 'member' }));
    const ids = [other.organization.id, owner.organization.id];
    const { token, organization_ids: listed } = await personalToken(['task:write'], { organization_ids: ids });
    expect(listed).toEqual(ids);
    const at = (id: string) => ({ 'x-organization-id': id });
    const write = (headers: Record<string, string> = {}) =>
      program(token).request({ method: 'POST', url: '/v1/tasks', headers, payload: { title: 'somewhere' } });
    expect((await write()).body).toMatchObject({ organization_id: other.organization.id });
    expect((await write(at(owner.organization.id))).body).toMatchObject({ organization_id: owner.organization.id });
    expect((await write()).body).toMatchObject({ organization_id: other.organization.id });
    await expectRefused(token, at(third.organization.id));
    await expectRefused(token, at(newId()));
    const everywhere = await personalToken(['task:read']);
    await expectAccepted(everywhere.token);
    await expectAccepted(everywhere.token, at(third.organization.id));
    const stranger = await buildPerson(world);
    await expectRefused(everywhere.token, at(stranger.organization.id));
    const foreign = await client.post('/v1/personal-access-tokens', {
      name: 'x',
      scopes: ['task:read'],
      organization_ids: [owner.organization.id, stranger.organization.id, newId(), 'x'],
    });
    expectProblem(foreign, 'not_found');
    expect(foreign.body.errors.map(({ path }: { path: string }) => path)).toEqual(
      [1, 2, 3].map((index) => `/organization_ids/${index}`),
    );
  });

  test('is listed, rotated and deleted by its person alone', async () => {
    const { id, token } = await personalToken(['task:read']);
    const admin = await signedIn(world, await colleague('super_admin'));
    expectProblem(await admin.get(`/v1/personal-access-tokens/${id}`), 'not_found');
    expectProblem(await admin.post(`/v1/personal-access-tokens/${id}/rotate`), 'not_found');
    expectProblem(await removed(`/v1/personal-access-tokens/${id}`, admin), 'not_found');
    const rotated = await client.post(`/v1/personal-access-tokens/${id}/rotate`);
    await expectRefused(token);
    await expectAccepted(rotated.body.token);
    expect((await removed(`/v1/personal-access-tokens/${id}`)).status).toBe(204);
    await expectRefused(rotated.body.token);
  });

  test('over GraphQL', async () => {
    const answer = await client.graphql(
      'mutation { createPersonalAccessToken(input: { name: "x", scopes: ["user:read"] }) { token personalAccessToken { id } } }',
    );
    const { token, personalAccessToken: made } = answer.data.createPersonalAccessToken;
    expect((await program(token).graphql('{ self { id } }')).data.self).toEqual({ id: owner.user.id });
    const next = await client.graphql(`mutation { rotatePersonalAccessToken(id: "${made.id}") { token } }`);
    await expectRefused(token);
    expect(
      (await program(next.data.rotatePersonalAccessToken.token).graphql('{ self { id } }')).data.self,
    ).not.toBeNull();
  });
});

test('a personal token has no scope for what only the server does', async () => {
  for (const scope of ['group_join_request:write', 'user:delete', 'task_group:write'])
    expectProblem(await client.post('/v1/personal-access-tokens', { name: 'x', scopes: [scope] }), 'invalid_input');
  await personalToken(['group_join_request:read', 'user:write', 'task_group:read']);
});

test('a name is described as it is checked: one line with a visible character', async () => {
  const { schemas } = (await client.get('/openapi.json')).body.components;
  for (const [path, input] of [
    ['/v1/api-tokens', 'CreateApiTokenInput'],
    ['/v1/personal-access-tokens', 'CreatePersonalAccessTokenInput'],
  ] as const) {
    const pattern = new RegExp(schemas[input].properties.name.pattern, 'u');
    for (const name of [' ', 'a\nb', 'a program']) {
      const { status } = await client.post(path, { name, scopes: ['task:read'] });
      expect([status === 201, pattern.test(name)], JSON.stringify(name)).toEqual(Array(2).fill(name === 'a program'));
    }
  }
});

test('creating or replacing a token needs a recent proof of everybody, because it outlives the session', async () => {
  const person = await buildPerson(world);
  const by = await signedIn(world, person);
  const body = { name: 'x', scopes: ['task:read'] };
  for (const path of ['/v1/api-tokens', '/v1/personal-access-tokens']) {
    const { id, token } = await created(by, path, body);
    await asOwner(world, `update sessions set proven_at = proven_at - interval '11 minutes' where user_id = $1`, [
      person.user.id,
    ]);
    expectProblem(await by.post(path, body), 'step_up_required');
    expectProblem(await by.post(`${path}/${id}/rotate`), 'step_up_required');
    await expectAccepted(token);
    expect((await by.post('/v1/2fa/step-up', { password: testPassword })).status).toBe(200);
    expect((await by.post(`${path}/${id}/rotate`)).status).toBe(200);
  }
});

describe('what only people who are signed in do', () => {
  /** An API token and a personal token with all scopes that there are. */
  let tokens: readonly string[];
  beforeAll(async () => {
    const [api, personal] = [
      await apiToken(offeredScopes(registry, 'api')),
      await personalToken(offeredScopes(registry, 'personal')),
    ];
    tokens = [api.token, personal.token];
  });

  test('is refused to tokens at every route that does not say that it accepts them', async () => {
    for (const token of tokens) {
      await expectClosed(program(token), isForPeople);
      const answer = await program(token).post('/v1/change-password', {
        password: 'x',
        new_password: 'correct horse battery',
      });
      expect(answer.body.detail).toMatch(/signed in/);
      expect((await program(token).get('/v1/tasks')).status).toBe(200);
    }
  });

  test('settings and single sign-on are read by tokens, and changed by none', async () => {
    const unknown = ['organization_setting:write', 'identity_provider:delete', 'api_token:read', 'secret:read'];
    const refused = await client.post('/v1/personal-access-tokens', { name: 'x', scopes: unknown });
    expectProblem(refused, 'invalid_input');
    expect(refused.body.errors).toHaveLength(unknown.length);
    const { token, id } = await personalToken(['organization_setting:read']);
    const [held] = (await program(token).get('/v1/organization-settings')).body.data ?? [
      (await program(token).get('/v1/organization-settings')).body,
    ];
    expect(held).toMatchObject({ organization_id: owner.organization.id });
    // A token of before has such a scope.
    await set(personalAccessToken, id, { scopes: ['organization_setting:delete'] });
    const url = `/v1/organization-settings/${held.id}`;
    for (const answer of [
      await program(token).request({ method: 'PATCH', url, payload: { requires_second_factor: true } }),
      await program(token).graphql(
        `mutation { updateOrganizationSetting(id: "${held.id}", input: { requiresSecondFactor: true }) { organizationSetting { id } } }`,
      ),
    ])
      expect(JSON.stringify(answer.body)).toContain('signed in');
  });

  test.each([
    'createOrganization(input: { name: "by a program" }) { organization { id } }',
    'createApiToken(input: { name: "x", scopes: ["task:read"] }) { token }',
    'createPersonalAccessToken(input: { name: "x", scopes: ["task:read"] }) { token }',
    'createInvite(input: { recipient: "a@example.com", role: OWNER }) { invite { id } }',
    `authorizePersonalAccessToken(id: "${newId()}", organizationId: "${newId()}") { isAuthorized }`,
    `deauthorizePersonalAccessToken(id: "${newId()}", organizationId: "${newId()}") { isAuthorized }`,
    `transferOwnership(id: "${newId()}", userId: "${newId()}") { membership { id } }`,
  ])('the mutation %s refuses tokens', async (mutation) => {
    for (const token of tokens) {
      const answer = await program(token).graphql(`mutation { ${mutation} }`);
      expect(answer.errors, mutation).toMatchObject([{ extensions: { code: 'permission_denied' } }]);
    }
  });
});

describe('settings', () => {
  test('keys: a deprecated key verifies, a revoked one does not, and the active one signs', async () => {
    shows('auth.token.apitokens.keys.*.secret', 'auth.token.apitokens.keys.*.status');
    const old = await apiToken(['task:read']);
    const next = { CORE_API_TOKEN_KEY_FIRST: `deprecated:${key('f')}`, CORE_API_TOKEN_KEY_SECOND: key('s') };
    const before = { CORE_API_TOKEN_KEY_FIRST: key('f'), CORE_API_TOKEN_KEY_SECOND: undefined };
    await world.reconfigure(next);
    const made = await apiToken(['task:read']);
    const keysOf = () =>
      asOwner<{ id: string; key: string }>(world, 'select id, key_id as key from api_tokens where id = any($1)', [
        [old.id, made.id],
      ]).then((rows) => Object.fromEntries(rows.map((row) => [row.id, row.key])));
    expect(await keysOf()).toEqual({ [old.id]: 'first', [made.id]: 'second' });
    for (const { token } of [old, made]) expect((await program(token).get('/v1/tasks')).status).toBe(200);
    const rotated = await client.post(`/v1/api-tokens/${old.id}/rotate`);
    expect(await keysOf()).toEqual({ [old.id]: 'second', [made.id]: 'second' });
    await world.reconfigure({
      ...next,
      CORE_API_TOKEN_KEY_FIRST: key('f'),
      CORE_API_TOKEN_KEY_SECOND: `revoked:${key('s')}`,
    });
    for (const token of [made.token, rotated.body.token])
      expectProblem(await program(token).get('/v1/tasks'), 'unauthenticated');
    await world.reconfigure(before);
  });

  test('enabled: off, no token is accepted or created', async () => {
    shows('auth.token.apitokens.enabled');
    const { token } = await apiToken(['task:read']);
    const personal = await personalToken(['task:read']);
    await world.reconfigure({ CORE_AUTH_TOKEN_APITOKENS_ENABLED: undefined, CORE_API_TOKEN_KEY_FIRST: undefined });
    for (const [one, name] of [
      [token, 'API'],
      [personal.token, 'personal'],
    ] as const) {
      const answer = await program(one).get('/v1/tasks');
      expectProblem(answer, 'unauthenticated');
      expect(answer.body.detail).toContain(`accepts no ${name} tokens: auth.token.apitokens.enabled is off`);
    }
    for (const path of ['/v1/api-tokens', '/v1/personal-access-tokens'])
      expectProblem(await client.post(path, { name: 'x', scopes: ['task:read'] }), 'permission_denied');
    await world.reconfigure({ CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: key('f') });
    expect((await program(token).get('/v1/tasks')).status).toBe(200);
  });

  test('secretsize is the number of random bytes of a secret', async () => {
    shows('auth.token.apitokens.secretsize');
    await world.reconfigure({ CORE_AUTH_TOKEN_APITOKENS_SECRETSIZE: '128' });
    const { token, id } = await apiToken(['task:read']);
    expect(Buffer.from(token.slice(`core_${id}_`.length), 'base64url')).toHaveLength(128);
    expect((await program(token).get('/v1/tasks')).status).toBe(200);
    await world.reconfigure({ CORE_AUTH_TOKEN_APITOKENS_SECRETSIZE: undefined });
    expect((await program(token).get('/v1/tasks')).status).toBe(200);
  });

  test('prefix and delimiter are those of new tokens, and asked of all', async () => {
    shows('auth.token.apitokens.delimiter', 'auth.token.apitokens.prefix');
    for (const delimiter of ['.', '-', '~', ':']) await tryDelimiter(delimiter);
  });

  async function tryDelimiter(delimiter: string): Promise<void> {
    const before = await apiToken(['task:read']);
    await world.reconfigure({
      CORE_AUTH_TOKEN_APITOKENS_PREFIX: 'acme',
      CORE_AUTH_TOKEN_APITOKENS_DELIMITER: delimiter,
    });
    const { token, id } = await apiToken(['task:read']);
    expect(token.startsWith(`acme${delimiter}${id}${delimiter}`)).toBe(true);
    const personal = await personalToken(['task:read']);
    expect(personal.token.startsWith(`pat${delimiter}`)).toBe(true);
    for (const each of [token, personal.token]) expect((await program(each).get('/v1/tasks')).status).toBe(200);
    expectProblem(await program(before.token).get('/v1/tasks'), 'unauthenticated');
    await world.reconfigure({
      CORE_AUTH_TOKEN_APITOKENS_PREFIX: undefined,
      CORE_AUTH_TOKEN_APITOKENS_DELIMITER: undefined,
    });
    expectProblem(await program(token).get('/v1/tasks'), 'unauthenticated');
    expect((await program(before.token).get('/v1/tasks')).status).toBe(200);
  }
});

test('T-71: of fifty creations at once as many succeed as there is room for', async () => {
  // Without a worker, which would mail about each of them.
  const quiet = await openWorld({
    environment: {
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: key('f'),
      CORE_SERVER_WRITETIMEOUT: '600000',
    },
  });
  try {
    const person = await buildPerson(quiet);
    const by = await signedIn(quiet, person);
    const values = { name: 'x', scopes: ['task:read'], hint: 'hint', keyId: 'first', secretHash: 'x' };
    const ofPerson = { ...values, userId: person.user.id, organizationIds: [] };
    await asSystem(quiet, person.organization.id, async (data) => {
      for (const [module, input] of [
        [apiTokenKind, values],
        [personalAccessToken, ofPerson],
      ] as const)
        await data.createAll(Array.from({ length: 190 }, () => ({ module, input, path: '' })));
    });
    for (const path of ['/v1/api-tokens', '/v1/personal-access-tokens']) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => by.post(path, { name: 'x', scopes: ['task:read'] })),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
      for (const answer of answers) if (answer.status !== 201) expectProblem(answer, 'limit_exceeded');
    }
  } finally {
    await quiet.close();
  }
});
