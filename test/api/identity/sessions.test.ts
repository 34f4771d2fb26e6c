import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { session } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { cookiesOf } from '../../kit/identity/set-cookies.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

async function isSignedIn(client: TestClient): Promise<boolean> {
  return (await client.graphql('{ self { id } }')).data?.self != null;
}

/** Signs in from somewhere, by the name of a program. @returns the client and the id of its session */
async function device(person: Person, userAgent: string, address = '198.51.100.7') {
  const client = world.client();
  client.address = address;
  const body = { username: person.user.email, password: testPassword };
  const answer = await client.post('/v1/login', body, { 'user-agent': userAgent });
  expect(answer.status).toBe(200);
  return { client, id: answer.body.session_id as string };
}

describe('the sessions of a person', () => {
  test('are listed with device, address and times, and nobody else sees them', async () => {
    const person = await buildPerson(world);
    const { client, id } = await device(person, 'Phone/1');
    const second = await device(person, 'x'.repeat(1_000));
    const query = `{ sessions(orderBy: [{ field: CREATED_AT, direction: ASC }]) {
      edges { node { id userAgent address lastSeenAt expiresAt activeOrganizationId } } } }`;
    const found = (await client.graphql(query)).data.sessions.edges.map(({ node }: { node: object }) => node);
    const now = world.clock.now();
    const common = { address: '198.51.100.7', lastSeenAt: now.toISOString() };
    expect(found).toMatchObject([
      {
        ...common,
        id,
        userAgent: 'Phone/1',
        expiresAt: new Date(now.getTime() + 2 * 3_600_000).toISOString(),
        activeOrganizationId: person.organization.id,
      },
      { ...common, id: second.id, userAgent: 'x'.repeat(256) },
    ]);
    const listed = await client.get('/v1/sessions');
    expect(listed.body.data.map((one: { id: string }) => one.id).toSorted()).toEqual([id, second.id].toSorted());
    expect(JSON.stringify(listed.body)).not.toMatch(/hash/i);

    const colleague = await buildPerson(world, { organization: person.organization, role: 'owner' });
    const other = await signedIn(world, colleague);
    expectProblem(await other.get(`/v1/sessions/${id}`), 'not_found');
    expectProblem(await other.request({ ...(await deletion(other, id)) }), 'not_found');
    expect(await isSignedIn(client)).toBe(true);
  });

  test('end one by one: deleting one signs that device out', async () => {
    const person = await buildPerson(world);
    const lost = await device(person, 'lost');
    const own = await device(person, 'own');
    const answer = await own.client.graphql('mutation Delete($id: ID!) { deleteSession(id: $id) { deletedId } }', {
      id: lost.id,
    });
    expect(answer.errors).toBeUndefined();
    expect(await isSignedIn(lost.client)).toBe(false);
    expect(await isSignedIn(own.client)).toBe(true);
    const third = await device(person, 'third');
    expect((await own.client.request(await deletion(own.client, third.id))).status).toBe(204);
    expect(await isSignedIn(third.client)).toBe(false);
  });

  test('end all but this one, or all', async () => {
    const person = await buildPerson(world);
    const stranger = await signedIn(world, await buildPerson(world));
    const devices = await Promise.all(['a', 'b', 'c'].map((name) => device(person, name)));
    const [own, ...others] = devices.map(({ client }) => client) as [TestClient, ...TestClient[]];
    const answer = await own.post('/v1/logout', { sessions: 'others' });
    expect(answer.body.message).toContain('2');
    expect(await isSignedIn(own)).toBe(true);
    for (const other of others) expect(await isSignedIn(other)).toBe(false);
    const late = (await device(person, 'late')).client;
    expect((await own.post('/v1/logout', { sessions: 'all' })).status).toBe(200);
    expect(own.cookies.has('access_token') || own.cookies.has('session') || own.cookies.has('refresh_token')).toBe(
      false,
    );
    for (const client of [own, late]) expect(await isSignedIn(client)).toBe(false);
    expect(await isSignedIn(stranger)).toBe(true);
    expectProblem(await world.client().post('/v1/logout', { sessions: 'all' }), 'unauthenticated');
    expectProblem(await own.post('/v1/logout', { sessions: 'some' }), 'invalid_input');
  });

  test('end by the refresh token when the access token has expired', async () => {
    const person = await buildPerson(world);
    const { client, id } = await device(person, 'slow');
    const token = client.cookies.get('refresh_token') ?? '';
    expect((await world.client().post('/v1/logout', { refresh_token: token })).status).toBe(200);
    expect(await isSignedIn(client)).toBe(false);
    const ended = 'select deleted_at is not null as ended from sessions where id = $1';
    expect(await asOwner(world, ended, [id])).toEqual([{ ended: true }]);
    // Whatever is sent, signing out succeeds.
    expect((await world.client().post('/v1/logout', { refresh_token: 'x.y.z' })).status).toBe(200);
  });

  test('are at most a hundred: the one that was used longest ago ends', async () => {
    const person = await buildPerson(world);
    const first = await device(person, 'first');
    const second = await device(person, 'second');
    await asOwner(world, `update sessions set last_seen_at = last_seen_at - interval '1 minute' where id = $1`, [
      first.id,
    ]);
    const input = {
      userId: person.user.id,
      address: '198.51.100.7',
      lastSeenAt: world.clock.now(),
      expiresAt: new Date(world.clock.now().getTime() + 3_600_000),
      refreshTokenHash: 'none',
    };
    const more = Array.from({ length: 98 }, () => ({ module: session, input, path: '' }));
    await asSystem(world, person.organization.id, (data) => data.createAll(more));
    const last = await device(person, 'last');
    expect(await isSignedIn(first.client)).toBe(false);
    expect(await isSignedIn(second.client)).toBe(true);
    expect(await isSignedIn(last.client)).toBe(true);
  });

  test('that have expired leave the list at the next sign-in', async () => {
    const person = await buildPerson(world);
    const old = await device(person, 'old');
    world.clock.advance(2 * 3_600_000);
    const { client, id } = await device(person, 'new');
    const listed = await client.get('/v1/sessions');
    expect(listed.body.data.map((one: { id: string }) => one.id)).toEqual([id]);
    expect(listed.body.data[0].id).not.toBe(old.id);
  });
});

/** A REST request that deletes a session, with the CSRF token of the client. */
async function deletion(client: TestClient, id: string) {
  return {
    method: 'DELETE' as const,
    url: `/v1/sessions/${id}`,
    headers: { 'x-csrf-token': client.cookies.get('csrf_token') ?? '' },
  };
}

describe('the session cookie', () => {
  test('is needed beside the access cookie, and both must be of one session', async () => {
    const [one, other] = [
      await signedIn(world, await buildPerson(world)),
      await signedIn(world, await buildPerson(world)),
    ];
    const access = one.cookies.get('access_token') ?? '';
    const sealed = one.cookies.get('session') ?? '';
    for (const session of [undefined, '', 'x', access, other.cookies.get('session')]) {
      const client = world.client();
      client.cookies.set('access_token', access);
      if (session !== undefined) client.cookies.set('session', session);
      expect(await isSignedIn(client), String(session)).toBe(false);
    }
    const client = world.client();
    client.cookies.set('session', sealed);
    expect(await isSignedIn(client)).toBe(false);
    client.cookies.set('access_token', access);
    // The CSRF token of before belongs to no session.
    await client.get('/livez');
    expect(await isSignedIn(client)).toBe(true);
  });

  test('tells nothing, is new with each sign-in, and takes the earlier session of the browser with it', async () => {
    const person = await buildPerson(world);
    const { client, id } = await device(person, 'browser');
    const first = client.cookies.get('session') ?? '';
    expect(
      first
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString())
        .join(' '),
    ).not.toContain(id);
    const kept = new Map(client.cookies);
    await client.post('/v1/login', { username: person.user.email, password: testPassword });
    expect(client.cookies.get('session')).not.toBe(first);
    expect(await isSignedIn(client)).toBe(true);
    const earlier = world.client();
    for (const [name, value] of kept) earlier.cookies.set(name, value);
    expect(await isSignedIn(earlier)).toBe(false);
  });

  test('ends after sessions.maxage, whatever the browser keeps', async () => {
    shows('sessions.maxage');
    const short = await world.openInstance({ environment: { CORE_SESSIONS_MAXAGE: '600' } });
    const person = await buildPerson(world);
    const client = short.client();
    await client.post('/v1/login', { username: person.user.email, password: testPassword });
    world.clock.advance(599_000);
    expect(await isSignedIn(client)).toBe(true);
    world.clock.advance(1_000);
    expect(await isSignedIn(client)).toBe(false);
  });

  test('keeps counting while its keys are rotated, until the old key is gone', async () => {
    const { encryptionkey } = world.config.current.sessions;
    const added = 'b'.repeat(40);
    const rotated = await world.openInstance({
      environment: { CORE_SESSIONS_ENCRYPTIONKEY: `${added},${encryptionkey}` },
    });
    const replaced = await world.openInstance({ environment: { CORE_SESSIONS_ENCRYPTIONKEY: added } });
    const { cookies } = await signedIn(world, await buildPerson(world));
    const askAt = async (instance: Pick<World, 'client'>) => {
      const client = instance.client();
      for (const [name, value] of cookies) client.cookies.set(name, value);
      return isSignedIn(client);
    };
    expect(await askAt(rotated)).toBe(true);
    expect(await askAt(replaced)).toBe(false);
  });

  test('and the refresh token have names that no other host can set, outside of development', async () => {
    const person = await buildPerson(world);
    for (const domain of ['', 'example.com']) {
      const instance = await world.openInstance({
        environment: { CORE_SERVER_DEV: 'false', CORE_SESSIONS_SECURE: 'true', CORE_SESSIONS_DOMAIN: domain },
      });
      const body = { username: person.user.email, password: testPassword };
      const client = instance.client();
      const cookies = cookiesOf((await client.post('/v1/login', body)).headers);
      for (const name of ['__Host-session', '__Host-refresh_token']) {
        expect(cookies.get(name)?.attributes).toMatchObject({ path: '/', secure: true, httponly: true });
        expect(cookies.get(name)?.attributes).not.toHaveProperty('domain');
      }
      expect(cookies.get('access_token')?.attributes['domain']).toBe(domain || undefined);
      expect(await isSignedIn(client)).toBe(true);
      // A cookie without the prefix, as another host could set it, is not looked at.
      const planted = instance.client();
      planted.cookies.set('refresh_token', client.cookies.get('__Host-refresh_token') ?? '');
      world.clock.advance(46 * 60_000);
      const answer = await planted.post('/v1/refresh');
      expectProblem(answer, 'unauthenticated');
      expect(answer.body.detail).toContain('no cookie');
    }
  });
});

describe('a sign-in in a browser', () => {
  const body = (person: Person) => ({ username: person.user.email, password: testPassword });

  test('ends the session that another person had there', async () => {
    const [one, other] = [await buildPerson(world), await buildPerson(world)];
    const { client } = await device(one, 'shared');
    const bearer = world.client();
    bearer.bearer = client.cookies.get('access_token');
    expect((await client.post('/v1/login', body(other))).status).toBe(200);
    expectProblem(await bearer.graphql('{ self { id } }'), 'unauthenticated');
    expect((await client.graphql('{ self { id } }')).data.self.id).toBe(other.user.id);
  });

  test('ends the session whose access token has expired', async () => {
    const person = await buildPerson(world);
    const { client, id } = await device(person, 'old');
    world.clock.advance(61 * 60_000);
    for (const name of ['access_token', 'session', 'csrf_token']) client.cookies.delete(name);
    expect((await client.post('/v1/login', body(person))).status).toBe(200);
    expect(await asOwner(world, 'select deleted_at is not null as ended from sessions where id = $1', [id])).toEqual([
      { ended: true },
    ]);
  });
});
