import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, user } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { cookiesOf } from '../../kit/identity/set-cookies.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let world: World;
let person: Person;

/** Time after a sign-in at which its refresh token counts. */
const refreshTime = 46 * 60_000;
const hour = 3_600_000;

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
});
afterAll(() => world.close());

async function signIn(who = person, from: Pick<Instance, 'client'> = world): Promise<TestAnswer['body']> {
  const answer = await from.client().post('/v1/login', { username: who.user.email, password: testPassword });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** A program without cookies. */
function refresh(token: string, from: Pick<Instance, 'client'> = world): Promise<TestAnswer> {
  return from.client().post('/v1/refresh', { refresh_token: token });
}

async function selfOf(token: string): Promise<TestAnswer['body']> {
  const client = world.client();
  client.bearer = token;
  return (await client.graphql('{ self { id } }')).body;
}

async function isOver(token: string): Promise<boolean> {
  const answer = await selfOf(token);
  return answer.errors?.[0].extensions.code === 'unauthenticated';
}

describe('a refresh', () => {
  test('gives the next tokens of the same session; the earlier access token works until it expires', async () => {
    const first = await signIn();
    world.clock.advance(refreshTime);
    const answer = await refresh(first.refresh_token);
    expect(answer.status).toBe(200);
    const next = answer.body;
    expect(next).toMatchObject({
      session_id: first.session_id,
      user_id: person.user.id,
      organization_id: person.organization.id,
      expires_in: 3_600,
      refresh_expires_in: 7_200,
    });
    expect(decodeJwt(next.access_token)['sid']).toBe(first.session_id);
    expect((await selfOf(next.access_token)).data.self.id).toBe(person.user.id);
    expect(await isOver(first.access_token)).toBe(false);
    world.clock.advance(hour - refreshTime + 1_000);
    expect(await isOver(first.access_token)).toBe(true);
    expect(await isOver(next.access_token)).toBe(false);
  });

  test('is refused before its time, and says when that is; the token is not used up', async () => {
    const { refresh_token: token, refresh_not_before: notBefore } = await signIn();
    world.clock.advance(44 * 60_000);
    const early = await refresh(token);
    expectProblem(early, 'token_not_yet_valid');
    expect(early.body.detail).toContain(notBefore.slice(0, 'yyyy-mm-ddThh:mm:ss'.length));
    expect(Number(early.headers['retry-after'])).toBeLessThanOrEqual(60);
    world.clock.advance(2 * 60_000);
    expect((await refresh(token)).status).toBe(200);
  });

  test('by cookie sets the cookies anew; beside an Authorization header the cookie does not count', async () => {
    const client = await signedIn(world, person);
    const before = new Map(client.cookies);
    world.clock.advance(refreshTime);
    // The access token may have expired: any GET gives a CSRF token.
    client.cookies.delete('access_token');
    await client.get('/livez');
    const answer = await client.post('/v1/refresh');
    expect(answer.status).toBe(200);
    const cookies = cookiesOf(answer.headers);
    expect([...cookies.keys()].toSorted()).toEqual(['access_token', 'csrf_token', 'refresh_token', 'session']);
    expect(cookies.get('refresh_token')).toMatchObject({
      value: answer.body.refresh_token,
      attributes: { path: '/', httponly: true, 'max-age': '7200', samesite: 'Strict' },
    });
    for (const name of cookies.keys()) expect(client.cookies.get(name), name).not.toBe(before.get(name));
    expect((await client.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
    world.clock.advance(refreshTime);
    const byPage = { method: 'POST', url: '/v1/refresh', headers: { authorization: 'Bearer x' } } as const;
    expectProblem(await client.request(byPage), 'unauthenticated');
  });

  test('by a program needs no cookie and no CSRF token beside an Authorization header', async () => {
    const { refresh_token: token, access_token: expired } = await signIn();
    world.clock.advance(hour + 1_000);
    const program = world.client();
    program.bearer = expired;
    expect((await program.post('/v1/refresh', { refresh_token: token })).status).toBe(200);
  });

  test('goes on where the person switched to, and at home once they have no role there', async () => {
    const other = await buildPerson(world);
    const joined = await asSystem(world, other.organization.id, (data) =>
      data.create(membership, { userId: person.user.id, role: 'member' }),
    );
    const client = await signedIn(world, person);
    const target = { target_organization_id: other.organization.id };
    expect((await client.post('/v1/switch', target)).body.organization_id).toBe(other.organization.id);
    world.clock.advance(refreshTime);
    await client.get('/livez');
    const there = await client.post('/v1/refresh');
    expect(there.body.organization_id).toBe(other.organization.id);
    await asSystem(world, other.organization.id, (data) => data.remove(membership, joined.id));
    world.clock.advance(refreshTime);
    await client.get('/livez');
    expect((await client.post('/v1/refresh')).body.organization_id).toBe(person.organization.id);
  });

  test('is refused for whoever may not sign in any more', async () => {
    const leaving = await buildPerson(world);
    const { refresh_token: token } = await signIn(leaving);
    world.clock.advance(refreshTime);
    const update = (status: 'suspended' | 'active') =>
      asSystem(world, leaving.organization.id, (data) => data.update(user, leaving.user.id, { status }));
    await update('suspended');
    expectProblem(await refresh(token), 'unauthenticated');
    await update('active');
    expect((await refresh(token)).status).toBe(200);
  });

  test('without a token says what to send', async () => {
    const answer = await world.client().post('/v1/refresh');
    expectProblem(answer, 'unauthenticated');
    expect(answer.body.detail).toContain('refresh_token');
    for (const value of ['', 7, null, [], {}, true])
      expectProblem(await world.client().post('/v1/refresh', { refresh_token: value }), 'invalid_input');
    expectProblem(await refresh('x'.repeat(100_000)), 'invalid_input');
  });
});

describe('T-03: a refresh token', () => {
  test('that was used more than ten seconds ago ends the session, and an event reports it', async () => {
    const first = await signIn();
    const elsewhere = await signIn();
    world.clock.advance(refreshTime);
    const next = (await refresh(first.refresh_token)).body;
    world.clock.advance(10_001);
    expectProblem(await refresh(first.refresh_token), 'unauthenticated');
    expect(await isOver(next.access_token)).toBe(true);
    expect(await isOver(elsewhere.access_token)).toBe(false);
    world.clock.advance(refreshTime);
    expectProblem(await refresh(next.refresh_token), 'unauthenticated');
    const topics = await asOwner<{ topic: string }>(
      world,
      `select topic from events where entity_id = $1 and topic <> 'session.begun_on_new_device' order by occurred_at, id`,
      [first.session_id],
    );
    expect(topics.map(({ topic }) => topic)).toEqual([
      'session.created',
      'session.refresh_token_reused',
      'session.deleted',
    ]);
  });

  test('ends the session as well if its successor has been used', async () => {
    const eager = await world.openInstance({ environment: { CORE_AUTH_TOKEN_REFRESHOVERLAP: '-3599000' } });
    const first = await signIn(person, eager);
    world.clock.advance(2_000);
    const second = (await refresh(first.refresh_token, eager)).body;
    world.clock.advance(2_000);
    expect((await refresh(second.refresh_token, eager)).status).toBe(200);
    expectProblem(await refresh(first.refresh_token, eager), 'unauthenticated');
    expect(await isOver(second.access_token)).toBe(true);
  });

  test('of a session that ended has no successor', async () => {
    const { refresh_token: token } = await signIn();
    world.clock.advance(refreshTime);
    const client = world.client();
    client.bearer = (await refresh(token)).body.access_token;
    expect((await client.post('/v1/logout')).status).toBe(200);
    expectProblem(await refresh(token), 'unauthenticated');
  });

  test('of somebody who is suspended gets no successor again', async () => {
    const leaving = await buildPerson(world);
    const { refresh_token: token } = await signIn(leaving);
    world.clock.advance(refreshTime);
    expect((await refresh(token)).status).toBe(200);
    await asSystem(world, leaving.organization.id, (data) =>
      data.update(user, leaving.user.id, { status: 'suspended' }),
    );
    expectProblem(await refresh(token), 'unauthenticated');
  });

  test('gets the same successor again for ten seconds, which then continues the session', async () => {
    const { refresh_token: token } = await signIn();
    world.clock.advance(refreshTime);
    const lost = await refresh(token);
    world.clock.advance(10_000);
    const again = await refresh(token);
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({
      refresh_token: lost.body.refresh_token,
      session_id: lost.body.session_id,
      organization_id: lost.body.organization_id,
    });
    for (const { body } of [lost, again]) expect(await isOver(body.access_token)).toBe(false);
    world.clock.advance(refreshTime);
    expect((await refresh(again.body.refresh_token)).status).toBe(200);
  });

  test('by cookie from two tabs at once leaves both signed in, with one refresh token', async () => {
    const tab = await signedIn(world, person);
    world.clock.advance(refreshTime);
    const other = world.client();
    for (const [name, value] of tab.cookies) other.cookies.set(name, value);
    const answers = await Promise.all([tab, other].map((one) => one.post('/v1/refresh')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(other.cookies.get('refresh_token')).toBe(tab.cookies.get('refresh_token'));
    for (const one of [tab, other])
      expect((await one.post('/v1/tasks', { title: 'written after the refresh' })).status).toBe(201);
  });

  test('used fifty times in parallel, in two processes, gets one successor', async () => {
    // No request is refused because too many wait for one session.
    const environment = { CORE_SERVER_WRITETIMEOUT: '600000' };
    const { refresh_token: token } = await signIn();
    world.clock.advance(refreshTime);
    const [one, other] = [await world.openInstance({ environment }), await world.openInstance({ environment })];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => refresh(token, index % 2 === 0 ? one : other)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    for (const { body } of answers.slice(0, 3)) expect(await isOver(body.access_token)).toBe(false);
  });

  test('of a session that ended is refused', async () => {
    const { refresh_token: token, access_token: access } = await signIn();
    const client = world.client();
    client.bearer = access;
    expect((await client.post('/v1/logout')).status).toBe(200);
    world.clock.advance(refreshTime);
    expectProblem(await refresh(token), 'unauthenticated');
  });

  test('is kept as a hash only', async () => {
    const { refresh_token: token, session_id: id } = await signIn();
    const [row] = await asOwner(world, 'select * from sessions where id = $1', [id]);
    expect(JSON.stringify(row)).not.toContain(token);
    expect(JSON.stringify(row)).not.toContain(decodeJwt(token).jti);
    world.clock.advance(refreshTime);
    const { refresh_token: next } = (await refresh(token)).body;
    const [later] = await asOwner(world, 'select * from sessions where id = $1', [id]);
    for (const one of [token, next]) expect(JSON.stringify(later)).not.toContain(one);
  });
});

describe('settings', () => {
  test('refreshaudience stands in the token, and is asked of it', async () => {
    shows('auth.token.refreshaudience');
    const audience = 'https://refresh.test';
    const own = await world.openInstance({ environment: { CORE_AUTH_TOKEN_REFRESHAUDIENCE: audience } });
    const ours = await signIn(person, own);
    const usual = await signIn();
    expect(decodeJwt(ours.refresh_token).aud).toBe(audience);
    expect(decodeJwt(usual.refresh_token).aud).toBe(world.config.current.auth.token.audience);
    world.clock.advance(refreshTime);
    expectProblem(await refresh(usual.refresh_token, own), 'unauthenticated');
    expect((await refresh(ours.refresh_token, own)).status).toBe(200);
  });

  test('refreshduration is how long a session lasts without a refresh', async () => {
    shows('auth.token.refreshduration');
    const long = await world.openInstance({ environment: { CORE_AUTH_TOKEN_REFRESHDURATION: String(3 * hour) } });
    const [ours, usual] = [await signIn(person, long), await signIn()];
    expect(ours.refresh_expires_in).toBe(3 * 3_600);
    world.clock.advance(2 * hour);
    expectProblem(await refresh(usual.refresh_token), 'unauthenticated');
    world.clock.advance(hour - 1_000);
    const next = await refresh(ours.refresh_token, long);
    expect(next.status).toBe(200);
    world.clock.advance(3 * hour);
    expectProblem(await refresh(next.body.refresh_token, long), 'unauthenticated');
  });

  test('refreshoverlap is how long before the expiry of the access token a refresh token counts', async () => {
    shows('auth.token.refreshoverlap');
    const late = await world.openInstance({ environment: { CORE_AUTH_TOKEN_REFRESHOVERLAP: '-60000' } });
    const { refresh_token: token } = await signIn(person, late);
    world.clock.advance(hour - 62_000);
    expectProblem(await refresh(token, late), 'token_not_yet_valid');
    world.clock.advance(2_000);
    expect((await refresh(token, late)).status).toBe(200);
  });
});

describe('a switch', () => {
  test('extends nothing: its token ends when the session does, or with it', async () => {
    const client: TestClient = await signedIn(world, person);
    const target = { target_organization_id: person.organization.id };
    world.clock.advance(59 * 60_000);
    const last = await client.post('/v1/switch', target);
    expect(last.body).not.toHaveProperty('refresh_token');
    world.clock.advance(59 * 60_000);
    const bearer = world.client();
    bearer.bearer = last.body.access_token;
    // Two hours after the sign-in the session ends; a minute and a little is left.
    const bounded = await bearer.post('/v1/switch', target);
    expect(bounded.body.expires_in).toBeLessThanOrEqual(2 * 60);
    expect(await isOver(bounded.body.access_token)).toBe(false);
    expect((await bearer.post('/v1/logout')).status).toBe(200);
    expect(await isOver(bounded.body.access_token)).toBe(true);
  });
});
