import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, organization, user } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { countHashes } from '../../kit/identity/count-hashes.ts';
import { timesOf } from '../../kit/depth.ts';
import { storedDeliveries } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { mailsTo, tokenIn, unfolded, waitForMails } from '../../kit/mailbox.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { inviteToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  // Fifty registrations hash fifty passwords.
  world = await openWorld({ worker: true, environment: { CORE_SERVER_WRITETIMEOUT: '600000' } });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const day = 86_400_000;
const newEmail = () => `invited-${newId().toLowerCase()}@example.com`;

async function invited(recipient: string, role = 'member', by = client): Promise<string> {
  const answer = await by.post('/v1/invites', { recipient, role });
  expect(answer).toMatchObject({ status: 201, body: { status: 'pending', send_attempts: 0 } });
  return answer.body.id;
}

const accept = (token: string, by: TestClient) => by.post('/v1/invite/accept', { token });
const register = (email: string, token: string, more: object = {}) =>
  world.client().post('/v1/register', { email, password: testPassword, invite_token: token, ...more });

/** A person with an account and an organization of their own, who is invited into that of the owner. */
async function guest(role = 'member'): Promise<{ person: Person; guestClient: TestClient; id: string; token: string }> {
  const person = await buildPerson(world);
  const id = await invited(person.user.email, role);
  return {
    person,
    guestClient: await signedIn(world, person),
    id,
    token: await inviteToken(world, person.user.email),
  };
}

const rolesOf = (userId: string, organizationId = owner.organization.id) =>
  asOwner<{ role: string }>(
    world,
    'select role from memberships where user_id = $1 and organization_id = $2 and deleted_at is null',
    [userId, organizationId],
  );

const storedInvite = async (id: string) =>
  (await asOwner(world, 'select status, send_attempts, round, deleted_at from invites where id = $1', [id]))[0];

const showStatus = (answer: TestAnswer) => `${answer.status} ${answer.body.code ?? ''}`.trim();

describe('a sign-in', () => {
  test('begins in the organization that invited the person, and afterwards where they acted last', async () => {
    const email = 'begins-here@example.com';
    await invited(email, 'member');
    expect((await register(email, await inviteToken(world, email))).status).toBe(201);
    const by = world.client();
    const begin = async () =>
      (await by.post('/v1/login', { username: email, password: testPassword })).body.organization_id;
    expect(await begin()).toBe(owner.organization.id);
    const { data } = (await by.get('/v1/account/memberships')).body;
    const personal = data.find(({ role }: { role: string }) => role === 'owner').organization_id;
    expect(personal).not.toBe(owner.organization.id);
    expect(await begin()).toBe(owner.organization.id);
    expect((await by.post('/v1/switch', { target_organization_id: personal })).status).toBe(200);
    expect(await begin()).toBe(personal);
  });
});

test('a password that is the name of the organization is refused to whom it invites', async () => {
  const email = 'guesses@example.com';
  await invited(email, 'member');
  const token = await inviteToken(world, email);
  const refused = await register(email, token, { password: `${owner.organization.name}-1` });
  expectProblem(refused, 'weak_password');
  expect((await register(email, token)).status).toBe(201);
});

describe('an invitation', () => {
  test('is mailed, shown, and accepted by the person with the address', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    const id = await invited(email.toUpperCase(), 'admin');
    const [mail = ''] = await waitForMails(world, email);
    const text = unfolded(mail);
    expect(text).toContain(owner.user.email);
    expect(text).toContain(owner.organization.name);
    const read = await eventually(async () => {
      const { body } = await client.get(`/v1/invites/${id}`);
      return body.status === 'sent' && body;
    });
    expect(read).toMatchObject({ send_attempts: 1, recipient: email, role: 'admin', inviter_id: owner.user.id });
    expect(new Date(read.expires_at).getTime() - new Date(read.created_at).getTime()).toBe(14 * day);

    const token = tokenIn(mail);
    const shown = await world.client().post('/v1/invite', { token });
    expect(shown.body).toMatchObject({
      organization: owner.organization.name,
      role: 'admin',
      email,
      invited_by: owner.user.email,
    });
    const guestClient = await signedIn(world, person);
    const accepted = await accept(token, guestClient);
    expect(accepted).toMatchObject({
      status: 200,
      body: { organization_id: owner.organization.id, role: 'admin' },
    });
    expect(await rolesOf(person.user.id)).toEqual([{ role: 'admin' }]);
    const switched = await guestClient.post('/v1/switch', { target_organization_id: owner.organization.id });
    expect(switched.status).toBe(200);
    expect((await guestClient.post('/v1/tasks', { title: 'as a colleague' })).status).toBe(201);
    expect((await client.get(`/v1/invites/${id}`)).body.status).toBe('accepted');

    const told = await eventually(async () => {
      const mails = await mailsTo(world, owner.user.email);
      return mails.find((each) => unfolded(each).includes(`${email} has joined`));
    });
    expect(told).toContain('Your invitation was accepted');
    // Accepted once.
    expectProblem(await accept(token, guestClient), 'invalid_token');
    expectProblem(await client.post('/v1/invites', { recipient: email }), 'already_exists');
  });

  test('lets people without an account register, with their address confirmed', async () => {
    const email = newEmail();
    await invited(email);
    const token = await inviteToken(world, email);
    expectProblem(await register(email, token, { password: 'password' }), 'weak_password');
    const { hashes, result } = await countHashes(() => register(email.toUpperCase(), token, { first_name: 'Grace' }));
    expect(result).toMatchObject({ status: 201 });
    expect(hashes).toBe(1);
    expectProblem(await register(email, token), 'invalid_token');
    const welcome = await eventually(async () =>
      (await mailsTo(world, email)).map(unfolded).find((mail) => mail.includes('Subject: Welcome')),
    );
    expect(welcome).toContain(
      `Your address is confirmed, and you have joined =E2=80=9C${owner.organization.name}=E2=80=9D.`,
    );
    expect(welcome).toContain('/v1/login');
    const newcomer = world.client();
    expect((await newcomer.post('/v1/login', { username: email, password: testPassword })).status).toBe(200);
    const { data } = await newcomer.graphql(
      '{ self { displayName } organizations { edges { node { id isPersonal } } } }',
    );
    expect(data.self).toEqual({ displayName: 'Grace' });
    expect(
      data.organizations.edges.map(({ node }: { node: { isPersonal: boolean } }) => node.isPersonal).toSorted(),
    ).toEqual([false, true]);
  });

  test('does not set the password of an account that there is', async () => {
    const { person, token, guestClient } = await guest();
    expectProblem(await register(person.user.email, token, { password: 'another horse battery' }), 'already_exists');
    expect(
      (await world.client().post('/v1/login', { username: person.user.email, password: testPassword })).status,
    ).toBe(200);
    expect((await accept(token, guestClient)).status).toBe(200);
  });

  test('can be declined, without an account, and the address be invited again', async () => {
    const email = newEmail();
    const id = await invited(email);
    const token = await inviteToken(world, email);
    expectProblem(await client.post('/v1/invites', { recipient: email }), 'already_exists');
    expect((await world.client().post('/v1/invite/decline', { token })).status).toBe(200);
    expect((await client.get(`/v1/invites/${id}`)).body.status).toBe('declined');
    expectProblem(await register(email, token), 'invalid_token');
    await invited(email);
  });

  test('can be withdrawn, and the address be invited again', async () => {
    const { person, token, guestClient, id } = await guest();
    expect((await client.post(`/v1/invites/${id}/withdraw`)).status).toBe(200);
    expectProblem(await accept(token, guestClient), 'invalid_token');
    expectProblem(await client.post(`/v1/invites/${id}/resend`), 'rule_violated');
    await invited(person.user.email);
    expect((await accept(await inviteToken(world, person.user.email), guestClient)).status).toBe(200);
  });

  test('is sent again six times; only the newest link works', async () => {
    const { person, token, guestClient, id } = await guest();
    await eventually(async () => (await mailsTo(world, person.user.email)).length === 1);
    const resends = await Promise.all(Array.from({ length: 50 }, () => client.post(`/v1/invites/${id}/resend`)));
    const sorted = Map.groupBy(resends, showStatus);
    expect([...sorted.keys()].toSorted()).toEqual(['202', '422 limit_exceeded']);
    expect(sorted.get('202')).toHaveLength(6);
    expect(await storedInvite(id)).toMatchObject({ round: 7 });
    await eventually(async () => (await storedInvite(id))?.['status'] === 'sent');
    expectProblem(await accept(token, guestClient), 'invalid_token');
    expect((await accept(await inviteToken(world, person.user.email), guestClient)).status).toBe(200);
  });

  test('is sent again and withdrawn over GraphQL as over REST, by people who may', async () => {
    const { person, token, guestClient, id } = await guest();
    await eventually(async () => (await mailsTo(world, person.user.email)).length === 1);
    const resend = 'mutation ($id: ID!) { resendInvite(id: $id) { invite { id status inviter { id } } } }';
    const withdraw = 'mutation ($id: ID!) { withdrawInvite(id: $id) { invite { id status } } }';
    const member = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'member' }),
    );
    for (const [query, by, code] of [
      [resend, member, 'not_found'],
      [withdraw, member, 'not_found'],
      [resend, guestClient, 'not_found'],
      [withdraw, guestClient, 'not_found'],
    ] as const)
      expectGraphqlError(await by.graphql(query, { id }), code);
    expect(await storedInvite(id)).toMatchObject({ round: 1 });
    expect((await client.graphql(resend, { id })).data).toEqual({
      resendInvite: { invite: { id, status: 'PENDING', inviter: { id: owner.user.id } } },
    });
    expect(await storedInvite(id)).toMatchObject({ round: 2 });
    expectProblem(await accept(token, guestClient), 'invalid_token');
    await eventually(async () => (await mailsTo(world, person.user.email)).length === 2);
    const newest = await inviteToken(world, person.user.email);
    expect((await client.graphql(withdraw, { id })).data).toEqual({
      withdrawInvite: { invite: { id, status: 'WITHDRAWN' } },
    });
    expectProblem(await accept(newest, guestClient), 'invalid_token');
    expectGraphqlError(await client.graphql(resend, { id }), 'rule_violated');
    expectGraphqlError(await client.graphql(withdraw, { id: newId() }), 'not_found');
  });

  test('that has expired can be sent again', async () => {
    const { person, guestClient, id, token } = await guest();
    world.clock.advance(14 * day);
    const again = await signedIn(world, owner);
    const asGuest = await signedIn(world, person);
    expectProblem(await accept(token, asGuest), 'token_expired');
    expect(await storedInvite(id)).toMatchObject({ status: 'expired' });
    expect((await again.post(`/v1/invites/${id}/resend`)).status).toBe(202);
    expect((await accept(await inviteToken(world, person.user.email), asGuest)).status).toBe(200);
    expect(guestClient).toBeDefined();
    client = await signedIn(world, owner);
  });

  test('goes ten times a day to one address, whoever sends it', async () => {
    const email = newEmail();
    await asOwner(
      world,
      `insert into sign_in_failures (key, failures, first_failed_at, last_failed_at)
       values ('invite-to:' || encode(sha256(convert_to($1, 'UTF8')), 'hex'), 10, $2, $2)`,
      [email, world.clock.now()],
    );
    const id = await invited(email);
    await eventually(async () => (await storedDeliveries(world, 'mail-invite', id)).length === 1);
    expect(await storedInvite(id)).toMatchObject({ status: 'pending', send_attempts: 0 });
    world.clock.advance(day);
    client = await signedIn(world, owner);
    await client.post(`/v1/invites/${id}/resend`);
    expect(await waitForMails(world, email)).toHaveLength(1);
  });

  test('names no organization that looks like a link', async () => {
    const founder = await buildPerson(world);
    await asOwner(world, 'update organizations set name = $1 where id = $2', [
      'Visit evil.example now',
      founder.organization.id,
    ]);
    const email = newEmail();
    await invited(email, 'member', await signedIn(world, founder));
    const [mail] = await waitForMails(world, email);
    expect(mail).not.toContain('evil.example');
  });
});

describe('T-70: an invitation', () => {
  test('is accepted once by fifty requests in two processes, with the right role', async () => {
    const elsewhere = await world.openInstance();
    const rounds = timesOf({ sample: 1, prove: 1_000 });
    for (let round = 0; round < rounds; round++) {
      const { person, guestClient, token } = await guest('auditor');
      const other = await signedIn(elsewhere, person);
      const answers = await Promise.all(
        Array.from({ length: 25 }, () => [accept(token, guestClient), accept(token, other)]).flat(),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 200)) expectProblem(answer, 'invalid_token');
      expect(await rolesOf(person.user.id)).toEqual([{ role: 'auditor' }]);
    }
    recordTried('invitations that fifty requests accept at once', rounds);
  });

  test('makes one account of fifty registrations at once', async () => {
    const email = newEmail();
    await invited(email);
    const token = await inviteToken(world, email);
    const answers = await Promise.all(Array.from({ length: 50 }, () => register(email, token)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const rows = await asOwner(
      world,
      `select count(distinct u.id)::int as users, count(*)::int as memberships from memberships m join users u on u.id = m.user_id where u.email = $1`,
      [email],
    );
    expect(rows).toEqual([{ users: 1, memberships: 2 }]);
  });

  test('is refused to another address, without telling more than that', async () => {
    const { token } = await guest();
    const stranger = await buildPerson(world);
    expectProblem(await accept(token, await signedIn(world, stranger)), 'permission_denied');
    expectProblem(await register(newEmail(), token), 'permission_denied');
    expectProblem(await accept(token, world.client()), 'unauthenticated');
    expect(await rolesOf(stranger.user.id)).toEqual([]);
  });

  test('works until its last millisecond', async () => {
    const [one, other] = [newEmail(), newEmail()];
    await Promise.all([invited(one), invited(other)]);
    const [early, late] = [await inviteToken(world, one), await inviteToken(world, other)];
    const rows = await asOwner<{ expires_at: Date }>(
      world,
      'select expires_at from invites where recipient = any($1) order by 1',
      [[one, other]],
    );
    world.clock.advance((rows[0]?.expires_at.getTime() ?? 0) - world.clock.now().getTime() - 1);
    expect((await register(one, early)).status).toBe(201);
    world.clock.advance((rows[1]?.expires_at.getTime() ?? 0) - world.clock.now().getTime());
    expectProblem(await register(other, late), 'token_expired');
    client = await signedIn(world, owner);
  });

  test.each<[string, (admin: Person) => Promise<unknown>]>([
    ['was demoted', (admin) => changeMembership(admin, (id, data) => data.update(membership, id, { role: 'member' }))],
    ['has left', (admin) => changeMembership(admin, (id, data) => data.remove(membership, id))],
    [
      'is suspended',
      (admin) =>
        asSystem(world, owner.organization.id, (data) => data.update(user, admin.user.id, { status: 'suspended' })),
    ],
  ])('is refused when whoever invited %s', async (_how, happens) => {
    const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
    const person = await buildPerson(world);
    await invited(person.user.email, 'member', await signedIn(world, admin));
    const token = await inviteToken(world, person.user.email);
    await happens(admin);
    const guestClient = await signedIn(world, person);
    expectProblem(await accept(token, guestClient), 'invalid_token');
    expectProblem(await world.client().post('/v1/invite', { token }), 'invalid_token');
    expect(await rolesOf(person.user.id)).toEqual([]);
    // Somebody else stands in for it.
    const { body } = await client.get(`/v1/invites?recipient=${person.user.email}`);
    await client.post(`/v1/invites/${body.data[0].id}/resend`);
    expect((await accept(await inviteToken(world, person.user.email), guestClient)).status).toBe(200);
  });

  test('to a deleted organization is void', async () => {
    const founder = await buildPerson(world);
    const person = await buildPerson(world);
    await invited(person.user.email, 'member', await signedIn(world, founder));
    const token = await inviteToken(world, person.user.email);
    await asSystem(world, founder.organization.id, (data) => data.remove(organization, founder.organization.id));
    expectProblem(await accept(token, await signedIn(world, person)), 'invalid_token');
  });
});

function changeMembership(
  { user: { id }, organization: home }: Person,
  change: (id: string, data: Parameters<Parameters<typeof asSystem>[2]>[0]) => Promise<unknown>,
): Promise<unknown> {
  return asSystem(world, home.id, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: id }, organizationId: { eq: home.id } });
    return change(held?.id ?? '', data);
  });
}

describe('who may invite whom', () => {
  test('nobody gives a role above their own', async () => {
    const admin = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'admin' }));
    for (const role of ['owner', 'super_admin'])
      expectProblem(await admin.post('/v1/invites', { recipient: newEmail(), role }), 'permission_denied');
    await invited(newEmail(), 'admin', admin);
    const high = await invited(newEmail(), 'super_admin');
    expectProblem(await admin.post(`/v1/invites/${high}/resend`), 'permission_denied');
    expectProblem(await admin.post(`/v1/invites/${high}/withdraw`), 'permission_denied');
    expect((await admin.request({ method: 'GET', url: `/v1/invites/${high}` })).body.status).toBe('pending');
    const member = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'member' }),
    );
    expectProblem(await member.post('/v1/invites', { recipient: newEmail() }), 'permission_denied');
    expectProblem(await member.post(`/v1/invites/${high}/resend`), 'not_found');
  });

  test('members, oneself and personal organizations are refused, over REST and GraphQL, one by one and in bulk', async () => {
    const colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
    for (const recipient of [owner.user.email, colleague.user.email.toUpperCase()])
      expectProblem(await client.post('/v1/invites', { recipient }), 'already_exists');
    const bulk = await client.graphql(
      'mutation ($inputs: [CreateInviteInput!]!) { createBulkInvite(inputs: $inputs) { invites { id } } }',
      { inputs: [{ recipient: newEmail() }, { recipient: colleague.user.email }] },
    );
    expect(bulk.errors[0].extensions).toMatchObject({ code: 'already_exists', errors: [{ path: '/1/recipient' }] });

    const email = newEmail();
    await invited(email);
    await register(email, await inviteToken(world, email));
    const loner = world.client();
    await loner.post('/v1/login', { username: email, password: testPassword });
    const { data } = await loner.graphql(
      '{ organizations(where: { isPersonal: { eq: true } }) { edges { node { id } } } }',
    );
    await loner.post('/v1/switch', { target_organization_id: data.organizations.edges[0].node.id });
    expectProblem(await loner.post('/v1/invites', { recipient: newEmail() }), 'permission_denied');
  });
});

test('T-07: what the configuration closes is closed for invitations, on every way', async () => {
  const email = () => `${newId().toLowerCase()}@closed.example`;
  const before = email();
  await invited(before);
  const token = await inviteToken(world, before);
  await world.reconfigure({ CORE_ORMCONFIG_EMAILVALIDATION_BLOCKEDDOMAINS: 'closed.example' });
  expectProblem(await client.post('/v1/invites', { recipient: email() }), 'invalid_input');
  const inputs = [{ recipient: newEmail() }, { recipient: email() }];
  for (const [mutation, variables] of [
    ['($input: CreateInviteInput!) { createInvite(input: $input) { createdId } }', { input: inputs[1] }],
    ['($inputs: [CreateInviteInput!]!) { createBulkInvite(inputs: $inputs) { invites { id } } }', { inputs }],
    ['($csv: String!) { createBulkCSVInvite(csv: $csv) { invites { id } } }', { csv: `recipient\n${email()}` }],
  ] as const) {
    const { errors } = await client.graphql(`mutation ${mutation}`, variables);
    expect(errors[0].extensions.code, mutation).toBe('invalid_input');
    expect(JSON.stringify(errors[0])).toContain('closed.example');
  }
  expectProblem(await register(before, token), 'invalid_input');
  expectProblem(await world.client().post('/v1/register', { email: email(), password: testPassword }), 'invalid_input');
  expect(await asOwner(world, `select 1 from users where email like '%@closed.example'`)).toEqual([]);
  await world.reconfigure({ CORE_ORMCONFIG_EMAILVALIDATION_BLOCKEDDOMAINS: undefined });
  expect((await register(before, token)).status).toBe(201);
});

test('every wrong token gets the same answer, after the same work', async () => {
  const { token } = await guest();
  const [id = '', signature = ''] = token.split('.');
  const wrong = {
    unknown: `${newId()}.${signature}`,
    forged: `${id}.${'A'.repeat(signature.length)}`,
    truncated: token.slice(0, -1),
  };
  for (const url of ['/v1/invite', '/v1/invite/decline', '/v1/invite/accept'] as const) {
    const answers = [];
    for (const value of Object.values(wrong)) {
      const { hashes, result } = await countHashes(() => client.post(url, { token: value }));
      expect(hashes).toBe(0);
      answers.push(`${result.status} ${result.body.detail}`);
    }
    expect(new Set(answers).size, url).toBe(1);
    for (const value of ['', null, 7, [], {}, 'x'.repeat(1_000_000), 'a.b', '..'])
      expect(
        (await client.post(url, { token: value })).status,
        `${url} ${JSON.stringify(value).slice(0, 9)}`,
      ).toBeGreaterThanOrEqual(400);
    expectProblem(await client.post(url, {}), 'invalid_input');
  }
});
