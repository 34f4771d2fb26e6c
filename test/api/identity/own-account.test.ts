import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, organization, session, user } from '#entities/index.ts';
import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { countHashes } from '../../kit/identity/count-hashes.ts';
import { timesOf } from '../../kit/depth.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { mailsTo, tokenIn, unfolded, waitForMails } from '../../kit/mailbox.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import {
  emailChangeToken,
  reactivationToken,
  resetToken,
  verificationToken,
} from '../../kit/identity/verification-token.ts';
import { whileLocked } from '../../kit/records/while-locked.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

const minute = 60_000;
const day = 86_400_000;
const password = testPassword;

beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

let number = 0;
/** Addresses of one length. */
const newEmail = () => `fresh-${String(++number).padStart(4, '0')}@example.com`;

const ask = (client: TestClient, new_email: unknown, given: unknown = password) =>
  client.post('/v1/account/email', { password: given, new_email });
const confirm = (token: string, given = password, client = world.client()) =>
  client.post('/v1/account/email/confirm', { token, password: given });
const deactivate = (client: TestClient, given: unknown = password) =>
  client.post('/v1/account/deactivate', { password: given });
const reactivate = (token: string, given = password) =>
  world.client().post('/v1/account/reactivate', { token, password: given });
const remove = (client: TestClient, given: unknown = password): Promise<TestAnswer> =>
  client.mutate({ method: 'DELETE', url: '/v1/account', payload: { password: given } });

async function isSignedIn(client: TestClient): Promise<boolean> {
  return (await client.graphql('{ self { id } }')).data?.self != null;
}

async function canSignIn(email: string): Promise<boolean> {
  return (await world.client().post('/v1/login', { username: email, password })).status === 200;
}

const changeToken = (email: string) => emailChangeToken(world, email);
const linkKey = () => deriveKey(world.config.current.sessions.signingkey, 'one-time-token');

type TeamRole = 'owner' | 'member';

/** An organization of this person, with others. */
function team(
  { user: first }: Person,
  name: string,
  others: Readonly<Record<string, TeamRole>> = {},
  { firstRole = 'owner', parentId = null }: { readonly firstRole?: TeamRole; readonly parentId?: string | null } = {},
): Promise<string> {
  const context = { caller: systemCaller('test builder'), requestId: `build-${newId()}` };
  return world.runtime.database.transact(context, async ({ data }) => {
    const { id } = await data.create(organization, { name, parentId });
    for (const [userId, role] of Object.entries({ [first.id]: firstRole, ...others }))
      await data.create(membership, { organizationId: id, userId, role });
    return id;
  });
}

describe('a change of the e-mail address', () => {
  test('happens when the link in the new mailbox is confirmed, with a notice to the old one', async () => {
    const person = await buildPerson(world);
    const old = person.user.email;
    const [own, other] = [await signedIn(world, person), await signedIn(world, person)];
    const wanted = newEmail();
    expect((await ask(own, wanted.toUpperCase())).status).toBe(202);
    const [mail = ''] = await waitForMails(world, wanted);
    expect(mail).not.toContain(person.user.displayName);
    expect((await waitForMails(world, old)).join()).toContain('Somebody who knows your password asked to change');
    expect(await canSignIn(old)).toBe(true);

    // Links that were mailed to the old address before.
    await world.client().post('/v1/forgot-password', { email: old });
    const token = tokenIn(mail);
    expectProblem(await confirm(token, 'wrong'), 'invalid_credentials');
    expect((await confirm(token, password, own)).status).toBe(200);
    expect(await isSignedIn(own)).toBe(true);
    expect(await isSignedIn(other)).toBe(false);
    expect(await canSignIn(old)).toBe(false);
    expect(await canSignIn(wanted)).toBe(true);
    expect((await own.graphql('{ self { email } }')).data.self.email).toBe(wanted);
    await eventually(async () => (await mailsTo(world, old)).join().includes('was changed'));

    // The old address is free, and nothing that was mailed to it works.
    expectProblem(await confirm(token), 'invalid_token');
    const reset = { token: await resetToken(world, old), password: 'tangerine umbrella sidewalk' };
    expectProblem(await world.client().post('/v1/password-reset', reset), 'invalid_token');
    await world.client().post('/v1/register', { email: old, password });
    await world.client().post('/v1/verify', { token: await verificationToken(world, old), password });
    expect(await canSignIn(old)).toBe(true);
  });

  test('makes sign-up links of both addresses void', async () => {
    const person = await buildPerson(world);
    const wanted = newEmail();
    const client = await signedIn(world, person);
    for (const email of [wanted, person.user.email]) await world.client().post('/v1/register', { email, password });
    const links = [await verificationToken(world, wanted), await verificationToken(world, person.user.email)];
    await ask(client, wanted);
    expect((await confirm(await changeToken(wanted))).status).toBe(200);
    for (const token of links)
      expectProblem(await world.client().post('/v1/verify', { token, password }), 'invalid_token');
  });

  test('needs the password of a signed-in person, and an address that is another one', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    expectProblem(await ask(client, newEmail(), 'wrong'), 'invalid_credentials');
    expectProblem(await ask(client, person.user.email.toUpperCase()), 'invalid_input');
    for (const value of ['', null, [], {}, 7, 'x'.repeat(1_025)])
      expectProblem(await ask(client, newEmail(), value), 'invalid_input');
    for (const value of ['', null, [], {}, 7, 'no address', `${'x'.repeat(260)}@example.com`])
      expectProblem(await ask(client, value), 'invalid_input');
    expectProblem(await ask(world.client(), newEmail()), 'unauthenticated');
    expect(await asOwner(world, 'select 1 from email_changes where user_id = $1', [person.user.id])).toEqual([]);
  });

  test('is refused for a domain that ormconfig.emailvalidation blocks, with the path of the field', async () => {
    const client = await signedIn(world, await buildPerson(world));
    const variable = 'CORE_ORMCONFIG_EMAILVALIDATION_BLOCKEDDOMAINS';
    await world.reconfigure({ [variable]: 'blocked.example' });
    const answer = await ask(client, 'me@blocked.example');
    await world.reconfigure({ [variable]: undefined });
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors).toMatchObject([{ path: '/new_email' }]);
  });

  test('sends nothing to an address that has an account, and cannot be confirmed', async () => {
    const { user: taken } = await buildPerson(world);
    const person = await buildPerson(world);
    expect((await ask(await signedIn(world, person), taken.email)).status).toBe(202);
    await waitForMails(world, person.user.email);
    await eventually(() => isSettled(world));
    expect(await mailsTo(world, taken.email)).toEqual([]);
    expectProblem(await confirm(await changeToken(taken.email)), 'invalid_token');
  });

  test('is mailed once a minute, to one address and for one person; until then, requests are refused', async () => {
    const [one, other] = [
      await signedIn(world, await buildPerson(world)),
      await signedIn(world, await buildPerson(world)),
    ];
    const wanted = newEmail();
    expect((await ask(one, wanted)).status).toBe(202);
    const second = newEmail();
    for (const refused of [await ask(other, wanted), await ask(one, second), await ask(one, wanted)]) {
      expectProblem(refused, 'too_many_requests');
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    await waitForMails(world, wanted);
    await eventually(() => isSettled(world));
    expect(await mailsTo(world, wanted)).toHaveLength(1);
    expect(await mailsTo(world, second)).toEqual([]);
    world.clock.advance(minute);
    expect((await ask(one, second)).status).toBe(202);
    await waitForMails(world, second);
  });

  test('expires after a day, and ends with a change of the password', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const wanted = newEmail();
    await ask(client, wanted);
    const token = await changeToken(wanted);
    await client.post('/v1/change-password', { password, new_password: 'tangerine umbrella sidewalk' });
    expectProblem(await confirm(token), 'invalid_credentials');
    world.clock.advance(day);
    expectProblem(await confirm(token, 'tangerine umbrella sidewalk'), 'token_expired');
  });

  test('T-03: ten people who want one address, each with five requests at once: one succeeds', async () => {
    const slow = await world.openInstance({ environment: { CORE_SERVER_WRITETIMEOUT: '600000' } });
    const people = await Promise.all(Array.from({ length: 10 }, () => buildPerson(world)));
    const wanted = newEmail();
    const clients = await Promise.all(people.map((person) => signedIn(world, person)));
    for (const client of clients) {
      world.clock.advance(minute);
      expect((await ask(client, wanted)).status).toBe(202);
    }
    const rows = await asOwner<{ id: string }>(world, 'select id from email_changes where new_email = $1', [wanted]);
    const tokens = rows.map(({ id }) => oneTimeToken(linkKey(), 'email-change', id, 1));
    const one = slow.client();
    await one.get('/livez');
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => tokens)
        .flat()
        .map((token) => confirm(token, password, one)),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(49);
    for (const answer of refused) expectProblem(answer, 'invalid_token');
    expect(await asOwner(world, 'select count(*)::int as count from users where email = $1', [wanted])).toEqual([
      { count: 1 },
    ]);
  });

  test('waits after ten wrong passwords with one link, before anything is compared', async () => {
    const client = await signedIn(world, await buildPerson(world));
    const wanted = newEmail();
    await ask(client, wanted);
    const token = await changeToken(wanted);
    for (let attempt = 0; attempt < 10; attempt++) expectProblem(await confirm(token, 'wrong'), 'invalid_credentials');
    const { hashes, result } = await countHashes(() => confirm(token));
    expectProblem(result, 'too_many_requests');
    expect(hashes).toBe(0);
  });
});

describe('a deactivated account', () => {
  test('T-01: is out with every credential, and comes back with the mailed link and the password, once', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    const [own, other] = [await signedIn(world, person), await signedIn(world, person)];
    const bearer = world.client();
    bearer.bearer = other.cookies.get('access_token');
    const refresh = other.cookies.get('refresh_token');
    await world.client().post('/v1/forgot-password', { email });
    expectProblem(await deactivate(own, 'wrong'), 'invalid_credentials');
    expect((await deactivate(own)).status).toBe(200);
    expect(own.cookies.has('access_token')).toBe(false);
    expect(await isSignedIn(other)).toBe(false);
    expectProblem(await bearer.graphql('{ self { id } }'), 'unauthenticated');
    world.clock.advance(46 * minute);
    expectProblem(await world.client().post('/v1/refresh', { refresh_token: refresh }), 'unauthenticated');
    expect(await canSignIn(email)).toBe(false);
    const reset = { token: await resetToken(world, email), password: 'tangerine umbrella sidewalk' };
    expect((await world.client().post('/v1/password-reset', reset)).status).toBe(400);

    const mails = await eventually(async () => {
      const found = (await mailsTo(world, email)).filter((mail) => mail.includes('deactivated'));
      return found.length > 0 && found;
    });
    const token = tokenIn(mails[0] ?? '');
    expectProblem(await reactivate(token, 'wrong'), 'invalid_credentials');
    expect((await reactivate(token)).status).toBe(200);
    expect(await isSignedIn(other)).toBe(false);
    expect(await canSignIn(email)).toBe(true);
    expectProblem(await reactivate(token), 'invalid_token');
    await eventually(async () => (await mailsTo(world, email)).join().includes('active again'));
  });

  test.each([
    ['/v1/resend', {}],
    ['/v1/forgot-password', {}],
    ['/v1/register', { password }],
  ])('is told the way back by %s, in the mail alone', async (path, more) => {
    const person = await buildPerson(world);
    const { email } = person.user;
    await deactivate(await signedIn(world, person));
    await waitForMails(world, email);
    world.clock.advance(2 * minute);
    const ask = (address: string) => world.client().post(path, { email: address, ...more });
    const stranger = newEmail();
    const [answer, strange] = [await ask(email), await ask(stranger)];
    expect(JSON.stringify(answer.body).replaceAll(email, '')).toBe(
      JSON.stringify(strange.body).replaceAll(stranger, ''),
    );
    const links = await eventually(async () => {
      const found = (await mailsTo(world, email)).filter((mail) => mail.includes('Your account is deactivated'));
      return found.length === 2 && found;
    });
    await eventually(() => isSettled(world));
    expect((await mailsTo(world, email)).join()).not.toContain('already has an account');
    expect((await reactivate(tokenIn(links.at(-1) ?? ''))).status).toBe(200);
  });

  test('is told nothing if an operator has suspended it', async () => {
    const suspended = await buildPerson(world);
    await deactivate(await signedIn(world, suspended));
    await waitForMails(world, suspended.user.email);
    await asSystem(world, suspended.organization.id, (data) =>
      data.update(user, suspended.user.id, { status: 'suspended' }),
    );
    await world.client().post('/v1/forgot-password', { email: suspended.user.email });
    await eventually(() => isSettled(world));
    expect(await mailsTo(world, suspended.user.email)).toHaveLength(1);
  });

  test.each([
    ['/v1/resend', {}],
    ['/v1/forgot-password', {}],
    ['/v1/register', { password }],
  ])('is told after 90 days by %s that only support can help', async (path, more) => {
    const person = await buildPerson(world);
    const { email } = person.user;
    await deactivate(await signedIn(world, person));
    await waitForMails(world, email);
    world.clock.advance(90 * day);
    await world.client().post(path, { email, ...more });
    const mails = (await waitForMails(world, email, 2)).map(unfolded);
    const [mail, ...others] = mails.filter((each) => each.includes('contact our support'));
    expect(others).toEqual([]);
    expect(mail).not.toContain('#token=');
  });

  test('stays out if an operator has locked it, or after 90 days', async () => {
    for (const [status, wait, code] of [
      ['suspended', 0, 'invalid_token'],
      ['deactivated', 90 * day, 'token_expired'],
    ] as const) {
      const person = await buildPerson(world);
      await deactivate(await signedIn(world, person));
      const token = await reactivationToken(world, person.user.email);
      if (status === 'suspended')
        await asSystem(world, person.organization.id, async (data) => {
          await data.update(user, person.user.id, { status });
          await data.update(user, person.user.id, { status: 'deactivated' });
        });
      world.clock.advance(wait);
      expectProblem(await reactivate(token), code);
      expect(await canSignIn(person.user.email)).toBe(false);
    }
  });
});

describe('a deleted account', () => {
  test('takes what hangs on the person with it, frees the address, and says so by mail', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    const alone = await team(person, `alone-${email}`);
    const colleague = await buildPerson(world);
    const shared = await team(person, `shared-${email}`, { [colleague.user.id]: 'owner' });
    const [own, other] = [await signedIn(world, person), await signedIn(world, person)];
    expectProblem(await remove(own, 'wrong'), 'invalid_credentials');
    for (const value of ['', null, [], {}, 7]) expectProblem(await remove(own, value), 'invalid_input');
    expectProblem(await remove(world.client()), 'unauthenticated');
    expect((await remove(own)).status).toBe(200);
    expect(own.cookies.has('access_token')).toBe(false);
    expect(await isSignedIn(other)).toBe(false);
    expect(await canSignIn(email)).toBe(false);
    const left = `select o.id from organizations o where o.deleted_at is null and o.id = any($1)`;
    expect(await asOwner(world, left, [[person.organization.id, alone, shared]])).toEqual([{ id: shared }]);
    const hanging = `select (select count(*) from memberships where user_id = $1 and deleted_at is null)
      + (select count(*) from sessions where user_id = $1 and deleted_at is null) as count`;
    expect(await asOwner(world, hanging, [person.user.id])).toEqual([{ count: '0' }]);
    expect((await waitForMails(world, email)).join()).toContain('was deleted');
    await world.client().post('/v1/register', { email, password });
    await world.client().post('/v1/verify', { token: await verificationToken(world, email), password });
    expect(await canSignIn(email)).toBe(true);
  });

  test('is refused to the last owner of an organization that others are in, which is named; so is deactivating', async () => {
    const person = await buildPerson(world);
    const colleague = await buildPerson(world);
    await team(person, 'Held together', { [colleague.user.id]: 'member' });
    const client = await signedIn(world, person);
    for (const leave of [remove, deactivate]) {
      const answer = await leave(client);
      expectProblem(answer, 'last_owner');
      expect(answer.body.detail).toContain('"Held together"');
      expect(answer.body.detail).not.toContain(person.organization.name);
    }
    expect(await isSignedIn(client)).toBe(true);
  });

  test('is refused while others are in an organization below the only one it owns, and other owners are locked out', async () => {
    const person = await buildPerson(world);
    const [member, owner] = [await buildPerson(world), await buildPerson(world)];
    const above = await team(person, 'Above', { [owner.user.id]: 'owner' });
    await team(member, 'Below', {}, { firstRole: 'member', parentId: above });
    await asSystem(world, above, (data) => data.update(user, owner.user.id, { status: 'suspended' }));
    const client = await signedIn(world, person);
    expectProblem(await remove(client), 'last_owner');
    await asSystem(world, above, (data) => data.update(user, owner.user.id, { status: 'active' }));
    expect((await remove(client)).status).toBe(200);
  });

  test('waits for a change of the account before it locks anything else', async () => {
    const person = await buildPerson(world);
    const [client, other] = [await signedIn(world, person), await signedIn(world, person)];
    const [held] = await asOwner<{ id: string }>(
      world,
      'select id from sessions where user_id = $1 order by id desc limit 1',
      [person.user.id],
    );
    // As every sign-in does: first the user, then the sessions.
    const answer = await whileLocked(
      world,
      [user, person.user.id],
      () => remove(client),
      (data) => data.remove(session, held?.id ?? ''),
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await isSignedIn(other)).toBe(false);
  });

  test('T-71: an active owner stays when one deactivates the account while the other leaves or hands over to them', async () => {
    const rounds = timesOf({ sample: 6, prove: 1_000 });
    for (let round = 0; round < rounds; round++) {
      const one = await buildPerson(world);
      const { organization: shared } = one;
      const two = await buildPerson(world, { organization: shared, role: 'owner' });
      await buildPerson(world, { organization: shared, role: 'member' });
      const [first, second] = [await signedIn(world, one), await signedIn(world, two)];
      const { data } = (await second.get(`/v1/memberships?user_id=${two.user.id}`)).body;
      const go =
        round % 2 === 0
          ? () => second.mutate({ method: 'DELETE', url: `/v1/memberships/${data[0].id}` })
          : () => second.post(`/v1/organizations/${shared.id}/transfer-ownership`, { user_id: one.user.id });
      const answers = await Promise.all([deactivate(first), go()]);
      const found = answers.map(({ status, body }) => `${status} ${body?.code ?? ''}`).join(', ');
      expect(answers.filter(({ status }) => status < 300).length, `round ${round}: ${found}`).toBeLessThan(2);
      const active = await asOwner(
        world,
        `select 1 from memberships m join users u on u.id = m.user_id where m.organization_id = $1
         and m.deleted_at is null and m.role = 'owner' and u.status = 'active'`,
        [shared.id],
      );
      expect(active.length, `round ${round}: ${found}`).toBeGreaterThan(0);
    }
    recordTried('pairs of owners of whom one deactivates the account while the other leaves', rounds);
  });

  test('of fifty owners who leave at once, one stays with the member', async () => {
    const slow = await world.openInstance({ environment: { CORE_SERVER_WRITETIMEOUT: '600000' } });
    const owners = await Promise.all(Array.from({ length: 50 }, () => buildPerson(world)));
    const [first, ...others] = owners as [Person, ...Person[]];
    const member = await buildPerson(world);
    const id = await team(first, 'Crowd', {
      ...Object.fromEntries(others.map((one) => [one.user.id, 'owner' as const])),
      [member.user.id]: 'member',
    });
    // In turn: an attempt counts against the limit of the address until it is judged.
    const clients: TestClient[] = [];
    for (const { user } of owners) {
      const client = slow.client();
      expect((await client.post('/v1/login', { username: user.email, password })).status).toBe(200);
      clients.push(client);
    }
    const answers = await Promise.all(
      clients.map((client, index) => (index % 2 === 0 ? remove(client) : deactivate(client))),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(1);
    for (const answer of refused) expectProblem(answer, 'last_owner');
    expect(
      await asOwner(
        world,
        `select count(*)::int as count from memberships m join users u on u.id = m.user_id
         where m.organization_id = $1 and m.deleted_at is null and m.role = 'owner' and u.status = 'active'`,
        [id],
      ),
    ).toEqual([{ count: 1 }]);
  });
});

describe('what a person is told about themselves', () => {
  test('userinfo has the standard claims, and when they were last there; colleagues see no such thing', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const seenAt = world.clock.now();
    world.clock.advance(46 * minute);
    for (const url of ['/v1/account/userinfo', '/oauth/userinfo']) {
      const { body } = await client.get(url);
      expect(body).toMatchObject({
        sub: person.user.id,
        email: person.user.email,
        email_verified: true,
        name: person.user.displayName,
        organization_id: person.organization.id,
        organization_role: 'owner',
        default_organization_id: null,
        last_seen_at: seenAt.toISOString(),
      });
      expect(JSON.stringify(body)).not.toMatch(/hash|argon/i);
    }
    expect((await client.post('/v1/refresh')).status).toBe(200);
    expect((await client.get('/v1/account/userinfo')).body.last_seen_at).toBe(world.clock.now().toISOString());
    expectProblem(await world.client().get('/v1/account/userinfo'), 'unauthenticated');
    const fields = (await client.graphql('{ __type(name: "User") { fields { name } } }')).data.__type.fields;
    expect(fields.map(({ name }: { name: string }) => name)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/lastSeen|defaultOrganization/)]),
    );
    const history = `select count(*)::int as count from history where entity_id = $1`;
    expect(await asOwner(world, history, [person.user.id])).toEqual([{ count: 1 }]);
  });

  test('sign-ins begin where the person acted last, else in the default organization, else at home', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const second = await team(person, `second-${person.user.email}`);
    const stranger = await buildPerson(world);
    const set = (organization_id: unknown) =>
      client.mutate({ method: 'PUT', url: '/v1/account/default-organization', payload: { organization_id } });
    for (const id of [stranger.organization.id, 'no id', '']) expectProblem(await set(id), 'not_found');
    for (const value of [7, [], undefined]) expectProblem(await set(value), 'invalid_input');
    expect((await set(second)).body).toEqual({ default_organization_id: second });
    const begin = async () =>
      (await world.client().post('/v1/login', { username: person.user.email, password })).body.organization_id;
    expect(await begin()).toBe(person.organization.id);
    const third = await team(person, `third-${person.user.email}`);
    expect((await client.post('/v1/switch', { target_organization_id: third })).status).toBe(200);
    expect(await begin()).toBe(third);
    await asSystem(world, third, (data) => data.remove(organization, third));
    expect(await begin()).toBe(second);
    await asSystem(world, second, (data) => data.remove(organization, second));
    expect(await begin()).toBe(person.organization.id);
    expect((await set(null)).body).toEqual({ default_organization_id: null });
  });

  test('their role in this organization and in others, and the product modules', async () => {
    const person = await buildPerson(world);
    const colleague = await buildPerson(world);
    const id = await team(colleague, `roles-${person.user.email}`, { [person.user.id]: 'member' });
    const client = await signedIn(world, person);
    const own = await client.get('/v1/account/roles');
    expect(own.body).toMatchObject({ organization_id: person.organization.id, roles: [{ id: 'owner' }] });
    const there = await client.post('/v1/account/roles/organization', { organization_id: id });
    expect(there.body).toMatchObject({ organization_id: id, roles: [{ id: 'member', name: 'Member' }] });
    const foreign = { organization_id: colleague.organization.id };
    expectProblem(await client.post('/v1/account/roles/organization', foreign), 'not_found');
    expect((await client.get('/v1/roles')).body.roles).toHaveLength(5);
    expect((await client.get('/v1/account/features')).body.features.length).toBeGreaterThan(0);
    expectProblem(await world.client().get('/v1/account/roles'), 'unauthenticated');
  });

  test('what they may do with records, and nothing about records of others', async () => {
    const person = await buildPerson(world);
    const member = await buildPerson(world, { organization: person.organization, role: 'member' });
    const [client, other, stranger] = [
      await signedIn(world, person),
      await signedIn(world, member),
      await signedIn(world, await buildPerson(world)),
    ];
    const object_id = person.organization.id;
    const may = async (by: TestClient, relation: string) =>
      (await by.post('/v1/account/access', { object_type: 'organization', object_id, relation })).body.allowed;
    expect([await may(client, 'view'), await may(client, 'edit'), await may(client, 'remove')]).toEqual([
      true,
      true,
      true,
    ]);
    expect([await may(other, 'view'), await may(other, 'edit'), await may(other, 'remove')]).toEqual([
      true,
      false,
      false,
    ]);
    expect([await may(stranger, 'view'), await may(stranger, 'edit')]).toEqual([false, false]);
    const body = { object_type: 'organization', object_ids: [object_id, 'no id', newId(), '__proto__'] };
    const { object_roles } = (await client.post('/v1/account/roles', body)).body;
    expect(object_roles[object_id]).toEqual(['view', 'edit', 'remove']);
    expect(object_roles['no id']).toEqual([]);
    for (const wrong of [
      { object_type: 'email_change', object_id, relation: 'view' },
      { object_type: 'organization', object_id, relation: 'create' },
      { object_type: 'organization', object_id: [object_id], relation: 'view' },
    ])
      expectProblem(await client.post('/v1/account/access', wrong), 'invalid_input');
  });
});
