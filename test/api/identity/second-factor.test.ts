import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, user } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { Authenticator, enroll } from '../../kit/identity/authenticator.ts';
import { timesOf } from '../../kit/depth.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { waitForMails } from '../../kit/mailbox.ts';
import { changeSettings } from '../../kit/records/organization-settings.ts';
import { buildPart, buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { startRedisServer } from '../../kit/servers/redis-server.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { resetToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

const minute = 60_000;
const newPassword = 'tangerine umbrella sidewalk';

beforeAll(async () => {
  // Races of fifty take their time on a busy machine.
  world = await openWorld({ worker: true, environment: { CORE_SERVER_WRITETIMEOUT: '600000' } });
});
afterAll(() => world.close());

const login = ({ user: { email } }: Person, client = world.client(), password = testPassword): Promise<TestAnswer> =>
  client.post('/v1/login', { username: email, password });

async function challengeOf(person: Person, client?: TestClient, password?: string): Promise<string> {
  const { status, body } = await login(person, client, password);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.mfa_required).toBe(true);
  return body.challenge_token;
}

const validate = (challenge: string, given: object, client = world.client()) =>
  client.post('/v1/2fa/validate', { challenge_token: challenge, ...given });

async function isSignedIn(client: TestClient): Promise<boolean> {
  return (await client.graphql('{ self { id } }')).data?.self != null;
}

async function enrolled() {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  return { person, client, ...(await enroll(world, client)) };
}

/** Two processes, whose clients have their CSRF cookies. */
async function twoProcesses(): Promise<[TestClient, TestClient]> {
  const clients: [TestClient, TestClient] = [world.client(), (await world.openInstance()).client()];
  await Promise.all(clients.map((client) => client.get('/livez')));
  return clients;
}

const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

describe('setting up', () => {
  test('gives a secret, and takes effect with a code of it', async () => {
    const person = await buildPerson(world);
    const [client, other] = [await signedIn(world, person), await signedIn(world, person)];
    const { status, body } = await client.post('/v1/2fa/setup');
    expect(status).toBe(200);
    expect(body.qr_code).toMatch(/^data:image\/svg\+xml;base64,/);
    expect((await login(person)).body).toHaveProperty('access_token');
    const app = new Authenticator(world, body.secret);
    expectProblem(await client.post('/v1/2fa/confirm', { code: await app.wrongCode() }), 'invalid_credentials');
    const confirmed = await client.post('/v1/2fa/confirm', { code: await app.code() });
    expect(confirmed.status).toBe(200);
    expect((await login(person)).body).toEqual({
      mfa_required: true,
      challenge_token: expect.any(String),
      expires_in: 300,
    });
    expect(await isSignedIn(client)).toBe(true);
    expect(await isSignedIn(other), 'T-02: other devices are signed out').toBe(false);
    expect((await client.get('/v1/second-factors')).body.data).toMatchObject([{ recovery_codes_left: 16 }]);
    expect((await waitForMails(world, person.user.email)).join('\n')).toContain('Your account has a second factor');
  });

  test('needs a recent proof: the sign-in, or the password', async () => {
    const client = await signedIn(world, await buildPerson(world));
    world.clock.advance(10 * minute);
    expect((await client.post('/v1/2fa/setup')).status).toBe(200);
    world.clock.advance(1);
    expectProblem(await client.post('/v1/2fa/setup'), 'step_up_required');
    expectProblem(await client.post('/v1/2fa/step-up', { password: 'wrong' }), 'invalid_credentials');
    expectProblem(await client.post('/v1/2fa/step-up', { code: '123456' }), 'invalid_input');
    expectProblem(await client.post('/v1/2fa/setup'), 'step_up_required');
    expect((await client.post('/v1/2fa/step-up', { password: testPassword })).status).toBe(200);
    expect((await client.post('/v1/2fa/setup')).status).toBe(200);
    expectProblem(await world.client().post('/v1/2fa/setup'), 'unauthenticated');
  });

  test('again replaces what is not confirmed, and nothing that is', async () => {
    const client = await signedIn(world, await buildPerson(world));
    expectProblem(await client.post('/v1/2fa/confirm', { code: '123456' }), 'not_found');
    const first = new Authenticator(world, (await client.post('/v1/2fa/setup')).body.secret);
    const { app } = await enroll(world, client);
    expect(app.secret).not.toBe(first.secret);
    expectProblem(await client.post('/v1/2fa/confirm', { code: await app.nextCode() }), 'already_exists');
    expectProblem(await client.post('/v1/2fa/setup'), 'already_exists');
  });

  test('ten times in parallel leaves one secret', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const answers = await times(10, () => client.post('/v1/2fa/setup'));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const confirmed = [];
    for (const { body } of answers) {
      // Each code is another attempt of the same person.
      await asOwner(world, `delete from sign_in_failures where key like 'second-factor:%'`);
      const code = await new Authenticator(world, body.secret).code();
      confirmed.push((await client.post('/v1/2fa/confirm', { code })).status);
    }
    expect(confirmed.filter((status) => status === 200)).toHaveLength(1);
  });
});

describe('a sign-in', () => {
  test('begins with a challenge and a code', async () => {
    const { person, app } = await enrolled();
    const client = world.client();
    const challenge = await challengeOf(person, client);
    expect([...client.cookies.keys()]).toEqual(['csrf_token']);
    expectProblem(await validate(challenge, { code: await app.wrongCode() }, client), 'invalid_credentials');
    expect(await isSignedIn(client)).toBe(false);
    const code = await app.nextCode();
    const { status, body } = await validate(challenge, { code: `${code.slice(0, 3)} ${code.slice(3)}` }, client);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toHaveProperty('refresh_token');
    expect(await isSignedIn(client)).toBe(true);
    expect(client.cookies.has('known_devices')).toBe(true);
  });

  test('accepts codes of the steps beside the current one, each newer than the last', async () => {
    const { person, app } = await enrolled();
    world.clock.advance(5 * minute);
    const codes = await Promise.all([-2, -1, 1, 0, 2].map((steps) => app.code(steps)));
    const outcomes = [];
    for (const code of codes) outcomes.push((await validate(await challengeOf(person), { code })).status);
    expect(outcomes).toEqual([401, 200, 200, 401, 401]);
  });

  test('T-20: a challenge is answered once, within five minutes', async () => {
    const { person, app } = await enrolled();
    const answered = await challengeOf(person);
    expect((await validate(answered, { code: await app.nextCode() })).status).toBe(200);
    expectProblem(await validate(answered, { code: await app.nextCode() }), 'unauthenticated');
    const late = await challengeOf(person);
    world.clock.advance(5 * minute - 31_000);
    const code = await app.nextCode();
    world.clock.advance(1_000);
    expectProblem(await validate(late, { code }), 'unauthenticated');
    expectProblem(await validate(late, {}), 'unauthenticated');
    expectProblem(await validate(await challengeOf(person), {}), 'invalid_input');
    expectProblem(await validate(await challengeOf(person), { code, recovery_code: 'ABCDEFGH' }), 'invalid_input');
  });

  test('T-13: a challenge opens nothing else', async () => {
    const { person } = await enrolled();
    const challenge = await challengeOf(person);
    const bearer = world.client();
    bearer.bearer = challenge;
    expectProblem(await bearer.graphql('{ self { id } }'), 'unauthenticated');
    for (const [url, body] of Object.entries({
      '/v1/switch': { target_organization_id: person.organization.id },
      '/v1/change-password': { password: testPassword, new_password: newPassword },
      '/v1/2fa/setup': undefined,
      '/v1/2fa/step-up': { password: testPassword },
      '/v1/2fa/recovery-codes': undefined,
      '/v1/tasks': { title: 'half signed in' },
    }))
      expectProblem(await bearer.post(url, body), 'unauthenticated', url);
    expectProblem(await world.client().post('/v1/refresh', { refresh_token: challenge }), 'unauthenticated');
    const browser = world.client();
    for (const name of ['access_token', 'session', 'refresh_token']) browser.cookies.set(name, challenge);
    expect(await isSignedIn(browser)).toBe(false);
    expectProblem(await browser.post('/v1/refresh'), 'unauthenticated');
  });

  test('T-13: a challenge counts no longer after a new password, a removed factor, or a suspension', async () => {
    const { person, client, app, recoveryCodes } = await enrolled();
    const before = await challengeOf(person);
    expect(
      (await client.post('/v1/change-password', { password: testPassword, new_password: newPassword })).status,
    ).toBe(200);
    expectProblem(await validate(before, { code: await app.nextCode() }), 'unauthenticated');
    const second = await challengeOf(person, undefined, newPassword);
    expect((await client.post('/v1/2fa/disable', { code: await app.nextCode() })).status).toBe(200);
    expectProblem(await validate(second, { recovery_code: recoveryCodes[0] }), 'unauthenticated');
    const { app: next } = await enroll(world, client);
    const third = await challengeOf(person, undefined, newPassword);
    await asSystem(world, person.organization.id, (data) => data.update(user, person.user.id, { status: 'suspended' }));
    expectProblem(await validate(third, { code: await next.nextCode() }), 'unauthenticated');
  });

  test('of somebody who knows only the password leaves no mark of a known browser', async () => {
    const { person } = await enrolled();
    const client = world.client();
    await challengeOf(person, client);
    expect(client.cookies.has('known_devices')).toBe(false);
  });

  test('T-02: a forgotten password leaves the second factor as it is', async () => {
    const { person, app } = await enrolled();
    const { email } = person.user;
    await world.client().post('/v1/forgot-password', { email });
    const reset = { token: await resetToken(world, email), password: newPassword };
    expect((await world.client().post('/v1/password-reset', reset)).status).toBe(200);
    const challenge = await challengeOf(person, undefined, newPassword);
    expect((await validate(challenge, { code: await app.nextCode() })).status).toBe(200);
  });
});

describe('a code', () => {
  test('that is none is refused with what it looks like', async () => {
    const { client } = await enrolled();
    const refused = await client.post('/v1/2fa/step-up', { code: 'letters' });
    expectProblem(refused, 'invalid_input');
    expect(refused.body.detail).toContain('Digits that the authenticator app shows, such as 123456');
  });

  test('T-10: works once, in sequence', async () => {
    const { person, client, app } = await enrolled();
    const code = await app.nextCode();
    expect((await validate(await challengeOf(person), { code })).status).toBe(200);
    expectProblem(await validate(await challengeOf(person), { code }), 'invalid_credentials');
    expectProblem(await client.post('/v1/2fa/step-up', { code }), 'invalid_credentials');
    expectProblem(await client.post('/v1/2fa/disable', { code }), 'invalid_credentials');
  });

  test('T-10: works once, sent fifty times in parallel to two processes', async () => {
    const { person, app } = await enrolled();
    const clients = await twoProcesses();
    const challenges = [await challengeOf(person), await challengeOf(person)];
    const code = await app.nextCode();
    const answers = await times(50, (index) => validate(challenges[index % 2] ?? '', { code }, clients[index % 2]));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of answers)
      if (status !== 200) expect(['invalid_credentials', 'too_many_requests']).toContain(body.code);
    const [row] = await asOwner<{ count: number }>(
      world,
      'select count(*)::int as count from sessions where user_id = $1 and deleted_at is null',
      [person.user.id],
    );
    // That of the set-up, and one.
    expect(row?.count).toBe(2);
  });

  test('T-12: of many wrong ones, over all routes, addresses and processes, ten are looked at', async () => {
    const { person, client, app } = await enrolled();
    const clients = await twoProcesses();
    const challenge = await challengeOf(person);
    const code = await app.wrongCode();
    const count = timesOf({ sample: 100, prove: 1_000 });
    const send = (index: number) => {
      const [one, other] = clients;
      const stranger = index % 2 === 0 ? one : other;
      stranger.address = `203.0.113.${index % 200}`;
      if (index % 4 === 0) return client.post('/v1/2fa/step-up', { code });
      if (index % 4 === 1) return client.post('/v1/2fa/disable', { recovery_code: 'ABCDEFGH' });
      return validate(challenge, { code }, stranger);
    };
    // A process refuses more than it has connections for: they come in waves.
    const answers: Awaited<ReturnType<typeof send>>[] = [];
    while (answers.length < count) {
      const sent = answers.length;
      answers.push(...(await times(100, (index) => send(sent + index))));
    }
    const counts = Map.groupBy(answers, ({ body }) => body.code as string);
    expect(counts.get('invalid_credentials')).toHaveLength(10);
    expect(counts.get('too_many_requests')).toHaveLength(count - 10);
    recordTried('wrong codes at once', count);
    const right = { code: await app.nextCode() };
    expectProblem(await validate(challenge, right), 'too_many_requests');
    world.clock.advance(15 * minute);
    expect((await validate(await challengeOf(person), { code: await app.nextCode() })).status).toBe(200);
    expect((await client.post('/v1/2fa/step-up', { code: await app.nextCode() })).status).toBe(200);
  });

  test('T-06: of another type or form is refused before anything is looked at', async () => {
    const { person, client } = await enrolled();
    const challenge = await challengeOf(person);
    const codes = ['', null, [], {}, 7, true, '12345', 'abcdef', '१२३४५६', ['123456'], '1'.repeat(900_000)];
    const recoveryCodes = ['', null, [], {}, 7, true, 'ABCDEFG', ['ABCDEFGH'], 'A'.repeat(900_000)];
    const given = [...codes.map((code) => ({ code })), ...recoveryCodes.map((code) => ({ recovery_code: code }))];
    for (const body of given)
      for (const answer of [
        await validate(challenge, body),
        await client.post('/v1/2fa/step-up', body),
        await client.post('/v1/2fa/disable', body),
      ])
        expectProblem(answer, 'invalid_input', JSON.stringify(body).slice(0, 40));
    expect(
      await asOwner(world, 'select 1 from sign_in_failures where key = $1', [`second-factor:${person.user.id}`]),
    ).toEqual([]);
  });
});

describe('a recovery code', () => {
  test('T-11: works once, sent fifty times in parallel to two processes, and is stored as a hash', async () => {
    const { person, recoveryCodes } = await enrolled();
    const clients = await twoProcesses();
    const challenge = await challengeOf(person);
    const [first = '', second = ''] = recoveryCodes;
    const answers = await times(50, (index) => validate(challenge, { recovery_code: first }, clients[index % 2]));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    // Those that came too late have counted as wrong.
    world.clock.advance(15 * minute);
    // As people write it.
    const written = `${second.slice(0, 4)}-${second.slice(4)}`.toLowerCase();
    expect((await validate(await challengeOf(person), { recovery_code: written })).status).toBe(200);
    const [row] = await asOwner<{ text: string; left: number }>(
      world,
      'select f::text as text, recovery_codes_left as left from second_factors f where user_id = $1',
      [person.user.id],
    );
    expect(row?.left).toBe(14);
    for (const code of recoveryCodes) expect(row?.text).not.toContain(code);
    expect((await waitForMails(world, person.user.email, 3)).join('\n')).toContain('A recovery code was used');
  });

  test('T-11: of another person is refused, even if its hash is copied', async () => {
    const [victim, attacker] = [await enrolled(), await enrolled()];
    const given = { recovery_code: attacker.recoveryCodes[0] };
    expectProblem(await validate(await challengeOf(victim.person), given), 'invalid_credentials');
    await asOwner(
      world,
      `update second_factors f set recovery_code_hashes = o.recovery_code_hashes from second_factors o
       where f.user_id = $1 and o.user_id = $2`,
      [victim.person.user.id, attacker.person.user.id],
    );
    expectProblem(await validate(await challengeOf(victim.person), given), 'invalid_credentials');
  });

  test('is replaced by new ones after a recent proof', async () => {
    const { person, client, app, recoveryCodes } = await enrolled();
    const { status, body } = await client.post('/v1/2fa/recovery-codes');
    expect(status).toBe(200);
    expectProblem(
      await validate(await challengeOf(person), { recovery_code: recoveryCodes[0] }),
      'invalid_credentials',
    );
    const [code] = body.recovery_codes;
    expect((await validate(await challengeOf(person), { recovery_code: code })).status).toBe(200);
    world.clock.advance(11 * minute);
    expectProblem(await client.post('/v1/2fa/recovery-codes'), 'step_up_required');
    expect((await client.post('/v1/2fa/step-up', { code: await app.nextCode() })).status).toBe(200);
    expect((await client.post('/v1/2fa/recovery-codes')).status).toBe(200);
    expectProblem(await (await signedIn(world, await buildPerson(world))).post('/v1/2fa/recovery-codes'), 'not_found');
  });
});

describe('a sensitive action', () => {
  test('T-14: needs a code in the same session; no password and no other session replaces it', async () => {
    const { person, client, app } = await enrolled();
    const other = world.client();
    expect((await validate(await challengeOf(person, other), { code: await app.nextCode() }, other)).status).toBe(200);
    world.clock.advance(11 * minute);
    const change = () => client.post('/v1/change-password', { password: testPassword, new_password: newPassword });
    expectProblem(await change(), 'step_up_required');
    expectProblem(await client.post('/v1/2fa/step-up', { password: testPassword }), 'invalid_input');
    expect((await other.post('/v1/2fa/step-up', { code: await app.nextCode() })).status).toBe(200);
    expectProblem(await change(), 'step_up_required');
    expect((await client.post('/v1/2fa/step-up', { code: await app.nextCode() })).status).toBe(200);
    expect((await change()).status).toBe(200);
  });
});

describe('removing', () => {
  test('needs a code, signs out other devices and keeps no secret', async () => {
    const { person, client, app, recoveryCodes } = await enrolled();
    const other = world.client();
    expect((await validate(await challengeOf(person, other), { code: await app.nextCode() }, other)).status).toBe(200);
    expectProblem(await client.post('/v1/2fa/disable', {}), 'invalid_input');
    expectProblem(await client.post('/v1/2fa/disable', { code: await app.wrongCode() }), 'invalid_credentials');
    expect((await client.post('/v1/2fa/disable', { recovery_code: recoveryCodes[3] })).status).toBe(200);
    expect(await isSignedIn(client)).toBe(true);
    expect(await isSignedIn(other), 'T-02').toBe(false);
    expect((await login(person)).body).toHaveProperty('access_token');
    expectProblem(await client.post('/v1/2fa/disable', { code: await app.nextCode() }), 'not_found');
    expect(
      await asOwner(
        world,
        'select sealed_secret as secret, recovery_code_hashes as codes from second_factors where user_id = $1',
        [person.user.id],
      ),
    ).toEqual([{ secret: null, codes: null }]);
    expect((await waitForMails(world, person.user.email, 3)).join('\n')).toContain('was removed');
    await enroll(world, client);
  });
});

describe('an organization that requires a second factor', () => {
  const require = (client: TestClient, id: string, value: boolean) =>
    client.graphql(
      `mutation ($id: ID!, $value: Boolean!) { updateOrganizationSetting(id: $id, input: { requiresSecondFactor: $value }) { organizationSetting { id } } }`,
      { id, value },
    );

  /** An owner with a factor, whose organization requires one, and a member without one who has a personal organization, too. */
  async function strict() {
    const owner = await enrolled();
    const { id: organizationId } = owner.person.organization;
    const setting = await changeSettings(world, organizationId, { requiresSecondFactor: false });
    const member = await buildPerson(world);
    await asSystem(world, organizationId, (data) => data.create(membership, { userId: member.user.id, role: 'admin' }));
    const client = await signedIn(world, member);
    expect((await client.post('/v1/switch', { target_organization_id: organizationId })).status).toBe(200);
    const { errors } = await require(owner.client, setting.id, true);
    expect(errors).toBeUndefined();
    return { owner, member, client, organizationId, setting };
  }

  test('is closed to members without one at once, wherever they come from', async () => {
    const { member, client, organizationId } = await strict();
    for (const answer of [
      await client.get('/v1/tasks'),
      await client.post('/v1/tasks', { title: 'by one factor' }),
      await client.graphql('{ tasks { totalCount } }'),
      await client.graphql('mutation { createTask(input: { title: "by one factor" }) { task { id } } }'),
      await client.post('/v1/switch', { target_organization_id: organizationId }),
    ])
      expectProblem(answer, 'second_factor_required');
    const bearer = world.client();
    bearer.bearer = client.cookies.get('access_token');
    expectProblem(await bearer.get('/v1/organizations'), 'second_factor_required');
    world.clock.advance(46 * minute);
    expectProblem(await client.post('/v1/refresh'), 'second_factor_required');
    const next = await login(member);
    expect(next.body.organization_id).toBe(member.organization.id);
  });

  test('T-14: is set up so, or no longer so, only with a recent proof', async () => {
    const { owner, setting } = await strict();
    world.clock.advance(11 * minute);
    const patch = (values: object, by = owner.client) =>
      by.mutate({ method: 'PATCH', url: `/v1/organization-settings/${setting.id}`, payload: values });
    expectGraphqlError(await require(owner.client, setting.id, false), 'step_up_required');
    expectProblem(await patch({ requires_second_factor: false }), 'step_up_required');
    const bulk = `mutation { updateBulkOrganizationSetting(ids: ["${setting.id}"], input: { requiresSecondFactor: false }) { updatedIds } }`;
    expectGraphqlError(await owner.client.graphql(bulk), 'step_up_required');
    expect((await patch({ timezone: 'Europe/Berlin' })).status).toBe(200);
    expect((await owner.client.post('/v1/2fa/step-up', { code: await owner.app.nextCode() })).status).toBe(200);
    expect((await patch({ requires_second_factor: false })).body).toMatchObject({ requires_second_factor: false });
  });

  test('opens once a member has set one up, and the owner can stop requiring it', async () => {
    const { owner, member, client, organizationId, setting } = await strict();
    const { app } = await enroll(world, client);
    expect((await client.get('/v1/tasks')).status).toBe(200);
    expect((await client.post('/v1/2fa/disable', { code: await app.nextCode() })).status).toBe(200);
    expectProblem(await client.get('/v1/tasks'), 'second_factor_required');
    expect((await client.post('/v1/switch', { target_organization_id: member.organization.id })).status).toBe(200);
    expect((await client.get('/v1/tasks')).status).toBe(200);
    expect((await require(owner.client, setting.id, false)).errors).toBeUndefined();
    expect((await client.post('/v1/switch', { target_organization_id: organizationId })).status).toBe(200);
  });

  test('requires it in the organizations that are part of it, and tells strangers nothing', async () => {
    const { client, organizationId } = await strict();
    const part = await buildPart(world, organizationId);
    expectProblem(await client.post('/v1/switch', { target_organization_id: part.id }), 'second_factor_required');
    const stranger = await signedIn(world, await buildPerson(world));
    expectProblem(await stranger.post('/v1/switch', { target_organization_id: organizationId }), 'not_found');
  });

  test('lets somebody without another organization sign in, and set one up', async () => {
    const { owner, organizationId } = await strict();
    const { organization: own, user: person } = await buildPerson(world, {
      organization: owner.person.organization,
      role: 'member',
    });
    const client = await signedIn(world, { user: person, organization: own });
    expect((await client.get('/v1/sessions')).status).toBe(200);
    await enroll(world, client);
    expect((await client.post('/v1/switch', { target_organization_id: organizationId })).status).toBe(200);
  });
});

describe('totp', () => {
  test('enabled: off, nobody can set it up, and nobody is asked for a code', async () => {
    shows('totp.enabled');
    const { person, app } = await enrolled();
    const instance = await world.openInstance({ environment: { CORE_TOTP_ENABLED: 'false' } });
    const client = instance.client();
    expect((await login(person, client)).body).toHaveProperty('access_token');
    expectProblem(await client.post('/v1/2fa/setup'), 'permission_denied');
    expectProblem(await validate(await challengeOf(person), { code: await app.nextCode() }, client), 'unauthenticated');
  });

  test('codelength and issuer: are what apps are set up with; recoverycodecount and recoverycodelength', async () => {
    shows('totp.codelength', 'totp.issuer', 'totp.recoverycodecount', 'totp.recoverycodelength');
    const environment = {
      CORE_TOTP_CODELENGTH: '8',
      CORE_TOTP_ISSUER: 'Core, Inc.',
      CORE_TOTP_RECOVERYCODECOUNT: '3',
      CORE_TOTP_RECOVERYCODELENGTH: '12',
    };
    const instance = await world.openInstance({ environment });
    const person = await buildPerson(world);
    const client = instance.client();
    await login(person, client);
    const { body } = await client.post('/v1/2fa/setup');
    expect(body.uri).toMatch(/^otpauth:\/\/totp\/Core%2C%20Inc\.:/);
    expect(new URL(body.uri).searchParams.get('issuer')).toBe('Core, Inc.');
    expect(new URL(body.uri).searchParams.get('digits')).toBe('8');
    const app = new Authenticator(world, body.secret, 8);
    const confirmed = await client.post('/v1/2fa/confirm', { code: await app.code() });
    expect(confirmed.body.recovery_codes).toHaveLength(3);
    for (const code of confirmed.body.recovery_codes) expect(code).toMatch(/^[2-9A-Z]{12}$/);
    // An app keeps the length that it was set up with.
    expect((await validate(await challengeOf(person), { code: await app.nextCode() })).status).toBe(200);
    // Without an issuer, it is the host of that of the tokens.
    const { body: other } = await (await signedIn(world, await buildPerson(world))).post('/v1/2fa/setup');
    expect(other.uri).toMatch(/^otpauth:\/\/totp\/api\.test:person-/);
  });

  test('secret: an earlier one still opens what it encrypted, and what is used is encrypted with the newest', async () => {
    shows('totp.secret');
    const { person, app } = await enrolled();
    const idle = await enrolled();
    const next = 'n'.repeat(40);
    const at = async (secret: string) => {
      const instance = await world.openInstance({ environment: { CORE_TOTP_SECRET: secret } });
      return async (who: Person, code: string) => {
        const challenge = await challengeOf(who, instance.client());
        return (await validate(challenge, { code }, instance.client())).status;
      };
    };
    const both = await at(`${next},${world.environment['CORE_TOTP_SECRET']}`);
    const newest = await at(next);
    expect(await both(person, await app.nextCode())).toBe(200);
    expect(await newest(person, await app.nextCode())).toBe(200);
    expect(await newest(idle.person, await idle.app.nextCode())).toBe(500);
    expect(await both(idle.person, await idle.app.nextCode())).toBe(200);
  });

  test('cache: used codes are in the cache as well, and its loss changes no answer', async (context) => {
    shows('totp.cache');
    const server = await startRedisServer();
    if (typeof server === 'string') {
      context.skip(server);
      return;
    }
    const inside = new Redis(server.url.href);
    const environment = {
      CORE_CACHE_ENABLED: 'true',
      CORE_CACHE_ADDRESS: server.url.host,
      CORE_CACHE_USERNAME: server.url.username,
      CORE_CACHE_PASSWORD: server.url.password,
    };
    const cached = await world.openInstance({ environment });
    const uncached = await world.openInstance({ environment: { ...environment, CORE_TOTP_CACHE: 'false' } });
    const { person, app } = await enrolled();
    const sentTo = async (instance: typeof cached) =>
      (await validate(await challengeOf(person), { code: await app.nextCode() }, instance.client())).status;
    const keys = () => inside.keys(`*:totp:${person.user.id}:*`);
    expect(await sentTo(uncached)).toBe(200);
    expect(await keys()).toEqual([]);
    // The connection opens with the first command.
    await eventually(async () => (await sentTo(cached)) === 200 && (await keys()).length > 0);
    const code = await app.nextCode();
    const step = Math.floor(world.clock.now().getTime() / 30_000);
    const [held = ''] = await keys();
    await inside.set(held.replace(/\d+$/, String(step)), '1');
    expectProblem(await validate(await challengeOf(person), { code }, cached.client()), 'invalid_credentials');
    inside.disconnect();
    await server.stop();
    expect(await sentTo(cached)).toBe(200);
  });
});
