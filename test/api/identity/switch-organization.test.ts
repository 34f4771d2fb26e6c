import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, organizationModule } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { asSystem } from '../../kit/as-person.ts';
import { buildPart, buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let person: Person;
let other: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  other = await buildPerson(world);
  await asSystem(world, other.organization.id, (data) =>
    data.create(membership, { userId: person.user.id, role: 'member' }),
  );
  client = await signedIn(world, person);
});
afterAll(() => world.close());

const ask = (target: unknown, by = client) => by.post('/v1/switch', { target_organization_id: target });

describe('switching', () => {
  test('gives a token and a cookie that act in the other organization, and back', async () => {
    const { body, status } = await ask(other.organization.id);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: client.cookies.get('access_token'),
        token_type: 'Bearer',
        expires_in: 3_600,
        session_id: expect.any(String),
        user_id: person.user.id,
        organization_id: other.organization.id,
      },
    });
    const made = await client.post('/v1/tasks', { title: 'theirs' });
    expect(made.status).toBe(201);
    expect((await ask(person.organization.id)).status).toBe(200);
    expectProblem(await client.get(`/v1/tasks/${made.body.id}`), 'not_found');
  });

  test('leads into an organization that is part of one in which one has a role', async () => {
    const part = await buildPart(world, other.organization.id);
    expect((await ask(part.id)).body).toMatchObject({ organization_id: part.id });
    expect((await ask(person.organization.id)).status).toBe(200);
  });

  test('into what is foreign is answered like into what is not there', async () => {
    const stranger = await buildPerson(world);
    const answers = [];
    for (const id of [stranger.organization.id, newId()]) {
      const answer = await ask(id);
      expectProblem(answer, 'not_found');
      answers.push(answer.body.detail.replaceAll(id, 'X'));
    }
    expect(new Set(answers).size).toBe(1);
  });

  test('is for those who are signed in, and asks for an id', async () => {
    expectProblem(await ask(person.organization.id, world.client()), 'unauthenticated');
    expectProblem(await ask(7), 'invalid_input');
    expectProblem(await client.post('/v1/switch', {}), 'invalid_input');
  });
});

describe('product modules of the organization', () => {
  const claimed = (token: string) => decodeJwt(token)['modules'];

  test('are told by the token as of its issue, and by userinfo as of the request; the token opens none', async () => {
    const instance = await world.openInstance({ environment: { CORE_ORMCONFIG_MODULES_ENABLED: 'true' } });
    const own = await buildPerson(world);
    const elsewhere = await buildPerson(world);
    const enable = (organizationId: string, module: 'registry' | 'risk_management') =>
      asSystem(world, organizationId, (data) => data.create(organizationModule, { module, source: 'granted' }));
    await asSystem(world, elsewhere.organization.id, (data) => data.create(membership, { userId: own.user.id }));
    const { id } = await enable(own.organization.id, 'registry');

    const by = instance.client();
    const login = await by.post('/v1/login', { username: own.user.email, password: testPassword });
    expect(claimed(login.body.access_token)).toEqual(['registry']);
    expect((await by.get('/v1/account/userinfo')).body).toMatchObject({ modules: ['registry'] });
    const switched = await ask(elsewhere.organization.id, by);
    expect(claimed(switched.body.access_token)).toEqual([]);
    expect((await by.get('/v1/account/userinfo')).body).toMatchObject({ modules: [] });
    const back = await ask(own.organization.id, by);
    expect(claimed(back.body.access_token)).toEqual(['registry']);

    await asSystem(world, own.organization.id, (data) => data.remove(organizationModule, id));
    await enable(own.organization.id, 'risk_management');
    const now = { modules: ['risk_management'] };
    expect((await by.get('/v1/account/userinfo')).body).toMatchObject(now);
    expect((await by.get('/v1/account/features')).body).toMatchObject({
      features: [{ module: 'risk_management', source: 'granted', ends_at: null }],
    });
    world.clock.advance(50 * 60_000);
    const refreshed = await by.post('/v1/refresh');
    expect(claimed(refreshed.body.access_token)).toEqual(now.modules);
  });

  test('are all while they are not checked', async () => {
    const by = await signedIn(world, await buildPerson(world));
    expect(claimed(by.cookies.get('access_token') ?? '')).toEqual(productModules);
    expect((await by.get('/v1/account/userinfo')).body).toMatchObject({ modules: productModules });
  });

  test('are none without an organization', async () => {
    const leaving = await buildPerson(world);
    const left = await buildPerson(world, { organization: leaving.organization, role: 'member' });
    await asSystem(world, leaving.organization.id, async (data) => {
      const held = await data.findOne(membership, { userId: { eq: left.user.id } });
      await data.remove(membership, held?.id ?? '');
    });
    const by = world.client();
    const login = await by.post('/v1/login', { username: left.user.email, password: testPassword });
    expect(login.body).toMatchObject({ organization_id: null });
    expect(claimed(login.body.access_token)).toEqual([]);
  });
});
