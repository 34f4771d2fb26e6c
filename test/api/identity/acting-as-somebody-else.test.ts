import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readMail } from '#activities/email/read-mail.ts';
import { membership, organization, supportConsent } from '#entities/index.ts';
import { mayGiveRole, roles, systemCaller, type Role } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem, transactAs } from '../../kit/as-person.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { expectClosed, isForPeople } from '../../kit/processes/closed-routes.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem, messageOf } from '../../kit/expect-problem.ts';
import { FakeIdentityProvider, type FakePerson } from '../../kit/fakes/fake-identity-provider.ts';
import { holdRow, waitForLocks } from '../../kit/records/held-row.ts';
import { waitForMails } from '../../kit/mailbox.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { beginSupport, supportEnvironment, supportFactor } from '../../kit/identity/support-access.ts';
import { readmit } from '../../kit/records/readmit.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let fake: FakeIdentityProvider;
let owner: Person;
let client: TestClient;

const staff: FakePerson = { sub: 'staff-1', email: 'anna@staff.example', email_verified: true, name: 'Anna' };
const reason = 'ticket 4711: a report is empty';

beforeAll(async () => {
  world = await openWorld({ worker: true });
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  await world.reconfigure(supportEnvironment(fake));
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterEach(async () => {
  fake.reset();
  await world.reconfigure(supportEnvironment(fake));
});
afterAll(async () => {
  await fake.close();
  await world.close();
});

/** An organization with its consent. */
async function consenting(
  by?: Person,
): Promise<{ readonly person: Person; readonly client: TestClient; readonly consentId: string }> {
  const person = by ?? (await buildPerson(world));
  const own = await signedIn(world, person);
  const expiresAt = new Date(world.clock.now().getTime() + 30 * 86_400_000).toISOString();
  const { status, body } = await own.post('/v1/support-consents', { expires_at: expiresAt });
  expect(status, JSON.stringify(body)).toBe(201);
  return { person, client: own, consentId: body.id };
}

const first = (by: TestClient, organizationId: string, more: object = {}) =>
  by.post('/v1/support/login', { ...supportFactor, organization_id: organizationId, reason, ...more });
const come = (by: TestClient, { pathname, search }: URL) => by.get(pathname + search);

async function second(organizationId: string, person = staff): Promise<TestAnswer> {
  const by = world.client();
  const { body } = await first(by, organizationId);
  return come(by, fake.approve(body.location, person));
}

function bearer(token: string): TestClient {
  const by = world.client();
  by.bearer = token;
  return by;
}

describe('auth.supportaccess', () => {
  test('enabled: off, its endpoints answer with 404, and tokens of before are refused', async () => {
    shows('auth.supportaccess.enabled');
    const { person } = await consenting();
    const support = bearer(await beginSupport(world, fake, person.organization.id));
    expect((await support.get('/v1/tasks')).status).toBe(200);
    await world.reconfigure({ CORE_AUTH_SUPPORTACCESS_ENABLED: 'false' });
    expectProblem(await support.get('/v1/tasks'), 'unauthenticated');
    expectProblem(await first(world.client(), person.organization.id), 'not_found');
    expectProblem(await world.client().get('/v1/support/callback?code=a&state=b'), 'not_found');
  });

  test('email and password are the first factor, and failures are counted', async () => {
    shows('auth.supportaccess.email', 'auth.supportaccess.password');
    const { person } = await consenting();
    const by = world.client();
    by.address = '192.0.2.17';
    for (const wrong of [
      { password: 'another password of support' },
      { email: 'another@staff.example' },
      { email: owner.user.email },
      { email: 'x'.repeat(254), password: 'y'.repeat(256) },
    ])
      expectProblem(await first(by, person.organization.id, wrong), 'invalid_credentials', JSON.stringify(wrong));
    for (const wrong of ['', null, 7, ['x'], {}, 'x'.repeat(1_000_000)])
      for (const field of ['email', 'password', 'organization_id', 'reason']) {
        const answer = await first(by, person.organization.id, { [field]: wrong });
        expect([400, 401, 403, 413, 422], field).toContain(answer.status);
        expect(answer.body.location).toBeUndefined();
      }
    for (let count = 0; count < 10; count++) await first(by, person.organization.id, { password: 'wrong password' });
    expectProblem(await first(by, person.organization.id), 'too_many_requests');
    const elsewhere = world.client();
    elsewhere.address = '192.0.2.99';
    expect((await first(elsewhere, person.organization.id)).status).toBe(200);
    // It is no account: the usual sign-in knows neither.
    const login = { username: supportFactor.email, password: supportFactor.password };
    expectProblem(await world.client().post('/v1/login', login), 'invalid_credentials');
    await world.reconfigure({ CORE_AUTH_SUPPORTACCESS_PASSWORD: 'a new password of support' });
    expectProblem(await first(elsewhere, person.organization.id), 'invalid_credentials');
  });

  test('clientid, clientsecret, issuerurl, discoveryendpoint and redirecturl are what the second factor is asked with', async () => {
    shows(
      'auth.supportaccess.clientid',
      'auth.supportaccess.clientsecret',
      'auth.supportaccess.issuerurl',
      'auth.supportaccess.discoveryendpoint',
      'auth.supportaccess.redirecturl',
    );
    const { person } = await consenting();
    const { body } = await first(world.client(), person.organization.id);
    const asked = new URL(body.location);
    expect(asked.origin).toBe(fake.url);
    expect(asked.searchParams.get('client_id')).toBe(fake.client.id);
    expect(asked.searchParams.get('redirect_uri')).toBe('https://api.test/v1/support/callback');
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
    await world.reconfigure({ CORE_AUTH_SUPPORTACCESS_CLIENTSECRET: 'another secret of the client' });
    expectProblem(await second(person.organization.id), 'provider_sign_in_failed');
    await world.reconfigure({
      CORE_AUTH_SUPPORTACCESS_CLIENTSECRET: fake.client.secret,
      CORE_AUTH_SUPPORTACCESS_DISCOVERYENDPOINT: `${fake.url}/elsewhere/metadata.json`,
    });
    expectProblem(await first(world.client(), person.organization.id), 'provider_unavailable');
    expect(fake.asked).toContain('/elsewhere/metadata.json');
  });

  test('alloweddomain: nobody of another domain, or with an unverified address, completes the second factor', async () => {
    shows('auth.supportaccess.alloweddomain');
    const { person } = await consenting();
    for (const wrong of [
      { email: 'anna@other.example' },
      { email: 'anna@staff.example.evil.example' },
      { email: 'anna@evilstaff.example' },
      { email: 'anna@staff.example@other.example' },
      { email: 'staff.example' },
      { email: '@staff.example' },
      { email: 'anna@evil.com@staff.example' },
      { email: '"anna@evil.com"@staff.example' },
      { email: 'anna@other.example/@staff.example' },
      { email_verified: false },
    ])
      expectProblem(
        await second(person.organization.id, { ...staff, ...wrong }),
        'provider_sign_in_failed',
        JSON.stringify(wrong),
      );
    expect(world.logs.filter(({ msg }) => String(msg).includes('second factor of support access'))).toHaveLength(10);
    expect((await second(person.organization.id, { ...staff, email: ' ANNA@Staff.Example' })).status).toBe(201);
  });

  test('subjectid and displayname name who acts: in changes, in the record of the access and in the banner', async () => {
    shows('auth.supportaccess.displayname', 'auth.supportaccess.subjectid');
    const { person, client: own } = await consenting();
    const subject = newId();
    await world.reconfigure({
      CORE_AUTH_SUPPORTACCESS_SUBJECTID: subject,
      CORE_AUTH_SUPPORTACCESS_DISPLAYNAME: 'Hilfe für Sie',
    });
    const { body, headers } = await second(person.organization.id);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3_600, subject_id: subject });
    expect(headers['cache-control']).toBe('no-store');
    const support = bearer(body.access_token);
    const made = await support.post('/v1/tasks', { title: 'made by support' });
    expect(made.status).toBe(201);
    expect(made.headers['support-access']).toBe(
      `id="${body.delegation_id}", actor="Hilfe%20f%C3%BCr%20Sie", until="${new Date(world.clock.now().getTime() + 3_600_000).toISOString()}"`,
    );
    expect((await support.graphql('{ tasks { totalCount } }')).headers['support-access']).toBeDefined();
    const [row] = await asOwner(world, 'select created_by, updated_by from tasks where id = $1', [made.body.id]);
    expect(row).toEqual({ created_by: `support:${subject}`, updated_by: `support:${subject}` });
    expect((await own.get(`/v1/delegations/${body.delegation_id}`)).body).toMatchObject({
      type: 'support',
      reason,
      actor_id: subject,
      actor_name: 'Hilfe für Sie',
      actor_email: staff.email,
      subject_id: subject,
      organization_id: person.organization.id,
    });
    expect(await asOwner(world, 'select 1 from users where id = $1', [subject])).toEqual([]);
    await world.reconfigure({ CORE_AUTH_SUPPORTACCESS_SUBJECTID: person.user.id });
    expectProblem(await first(world.client(), person.organization.id), 'permission_denied');
  });
});

describe('support access', () => {
  test('needs the consent of an owner, and ends with it at once', async () => {
    const { person, client: own, consentId } = await consenting();
    const admin = await signedIn(world, await buildPerson(world, { organization: person.organization, role: 'admin' }));
    const without = await buildPerson(world);
    for (const id of [without.organization.id, newId(), 'x'])
      expectProblem(await first(world.client(), id), 'permission_denied', id);
    const expires = { expires_at: new Date(world.clock.now().getTime() + 86_400_000).toISOString() };
    expectProblem(await admin.post('/v1/support-consents', expires), 'permission_denied');
    const later = await signedIn(world, without);
    world.clock.advance(11 * 60_000);
    expectProblem(await later.post('/v1/support-consents', expires), 'step_up_required');
    expectProblem(
      await admin.mutate({ method: 'DELETE', url: `/v1/support-consents/${consentId}` }),
      'permission_denied',
    );
    const support = bearer(await beginSupport(world, fake, person.organization.id));
    const begun = world.client();
    const { body } = await first(begun, person.organization.id);
    expect((await support.get('/v1/tasks')).status).toBe(200);
    expect((await own.mutate({ method: 'DELETE', url: `/v1/support-consents/${consentId}` })).status).toBe(204);
    expectProblem(await support.get('/v1/tasks'), 'unauthenticated');
    expectProblem(await come(begun, fake.approve(body.location, staff)), 'permission_denied');
    // Another consent does not revive it.
    await consenting(person);
    expectProblem(await support.get('/v1/tasks'), 'unauthenticated');
  });

  test('needs a consent that ends within 30 days', async () => {
    const { client: own } = await consenting();
    const { data } = (await own.get('/v1/support-consents')).body;
    await own.mutate({ method: 'DELETE', url: `/v1/support-consents/${data[0].id}` });
    const day = 86_400_000;
    const now = world.clock.now().getTime();
    for (const wrong of [now - day, now - 1, now + 31 * day, Date.parse('2099-01-01T00:00:00Z')]) {
      const expiresAt = new Date(wrong).toISOString();
      expectProblem(await own.post('/v1/support-consents', { expires_at: expiresAt }), 'rule_violated', expiresAt);
      const text = `mutation { createSupportConsent(input: { expiresAt: "${expiresAt}" }) { supportConsent { id } } }`;
      expect((await own.graphql(text)).errors?.[0].extensions?.code).toBe('rule_violated');
    }
  });

  test('names nobody who happens to be signed in in the browser of support', async () => {
    const { person } = await consenting();
    const bystander = await signedIn(world, await buildPerson(world));
    const begun = await first(bystander, person.organization.id);
    const { body, status } = await come(bystander, fake.approve(begun.body.location, staff));
    expect(status).toBe(201);
    const actors = await asOwner(
      world,
      `select created_by as actor from delegations where id = $1 union select actor from history where entity_id = $1
        union select actor from events where entity_id = $1`,
      [body.delegation_id],
    );
    expect(actors).toEqual([{ actor: 'anonymous' }]);
  });

  test('ends after an hour, with its consent, with its organization, and when somebody ends it', async () => {
    const { person, client: own } = await consenting();
    const { id } = person.organization;
    const [ended, deleted, late] = [
      bearer(await beginSupport(world, fake, id)),
      await second(id),
      bearer(await beginSupport(world, fake, id)),
    ];
    expect((await ended.post('/v1/delegation/end')).status).toBe(200);
    expectProblem(await ended.get('/v1/tasks'), 'unauthenticated');
    const admin = await signedIn(world, await buildPerson(world, { organization: person.organization, role: 'admin' }));
    expect((await admin.post(`/v1/delegations/${deleted.body.delegation_id}/end`)).status).toBe(200);
    expectProblem(await bearer(deleted.body.access_token).get('/v1/tasks'), 'unauthenticated');
    world.clock.advance(3_599_000);
    expect((await late.get('/v1/tasks')).status).toBe(200);
    world.clock.advance(1_000);
    expectProblem(await late.get('/v1/tasks'), 'unauthenticated');
    const last = bearer(await beginSupport(world, fake, id));
    await asSystem(world, id, (data) => data.remove(organization, id));
    expectProblem(await last.get('/v1/tasks'), 'unauthenticated');
    expect((await own.get('/v1/tasks')).status).not.toBe(500);
  });

  test('ends when its consent expires', async () => {
    const person = await buildPerson(world);
    await asSystem(world, person.organization.id, (data) =>
      data.create(supportConsent, { expiresAt: new Date(world.clock.now().getTime() + 60_000) }),
    );
    const { body } = await second(person.organization.id);
    expect(body.expires_in).toBe(60);
    world.clock.advance(60_000);
    expectProblem(await bearer(body.access_token).get('/v1/tasks'), 'unauthenticated');
    expectProblem(await first(world.client(), person.organization.id), 'permission_denied');
  });

  test('T-13, T-20: one factor opens nothing, and the second belongs to one browser, once', async () => {
    const { person } = await consenting();
    const by = world.client();
    const { body } = await first(by, person.organization.id);
    expect(JSON.stringify(body)).not.toContain('token');
    expectProblem(await by.get('/v1/tasks'), 'unauthenticated');
    const url = fake.approve(body.location, staff);
    expectProblem(await come(world.client(), url), 'provider_sign_in_failed');
    for (const callback of ['/v1/identity/callback', '/v1/sso/callback']) {
      const other = world.client();
      const begun = await first(other, person.organization.id);
      const { search } = fake.approve(begun.body.location, staff);
      expect((await other.get(callback + search)).status, callback).toBeGreaterThanOrEqual(400);
    }
    const again = world.client();
    again.cookies.set('sign_in_state', by.cookies.get('sign_in_state') ?? '');
    expect((await come(by, url)).status).toBe(201);
    expectProblem(await come(again, url), 'provider_sign_in_failed');
    // The second factor alone: without the cookie of the first.
    expectProblem(await come(world.client(), fake.approve(body.location, staff)), 'provider_sign_in_failed');
  });

  test('T-20: of fifty returns at once with the same state, one counts', async () => {
    const { person } = await consenting();
    const by = world.client();
    const { body } = await first(by, person.organization.id);
    fake.acceptsCodesAgain = true;
    const url = fake.approve(body.location, staff);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => {
        const same = world.client();
        same.cookies.set('sign_in_state', by.cookies.get('sign_in_state') ?? '');
        return come(same, url);
      }),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const { id } = person.organization;
    expect(await asOwner(world, 'select 1 from delegations where organization_id = $1', [id])).toHaveLength(1);
  });

  test('counts for nothing when its settings have changed since the first factor', async () => {
    const { person } = await consenting();
    const by = world.client();
    const { body } = await first(by, person.organization.id);
    await world.reconfigure({ CORE_AUTH_SUPPORTACCESS_PASSWORD: 'a new password of support' });
    expectProblem(await come(by, fake.approve(body.location, staff)), 'provider_sign_in_failed');
  });

  test('is refused when it cannot be recorded', async () => {
    const { person } = await consenting();
    await asOwner(world, 'alter table delegations rename to delegations_away');
    try {
      const answer = await second(person.organization.id);
      expect(answer.status).toBe(500);
      expect(JSON.stringify(answer.body)).not.toContain('token');
    } finally {
      await asOwner(world, 'alter table delegations_away rename to delegations');
    }
    expect(
      await asOwner(world, 'select 1 from delegations where organization_id = $1', [person.organization.id]),
    ).toEqual([]);
  });

  test('reaches one organization with the rights of an admin, and neither credentials, accounts, roles nor settings', async () => {
    const { person } = await consenting();
    const support = bearer(await beginSupport(world, fake, person.organization.id));
    const member = await buildPerson(world, { organization: person.organization, role: 'member' });
    const foreign = await (await signedIn(world, owner)).post('/v1/tags', { name: 'foreign' });
    expect((await support.post('/v1/tags', { name: 'own' })).status).toBe(201);
    expectProblem(await support.get(`/v1/tags/${foreign.body.id}`), 'not_found');
    expect((await support.get(`/v1/memberships`)).body.data).toHaveLength(2);
    expect((await support.get(`/v1/users/${member.user.id}`)).status).toBe(200);
    expectProblem(await support.get(`/v1/users/${owner.user.id}`), 'not_found');
    await refusedEverywhere(support, person, member);
    const elsewhere = await support.get('/v1/tags', { 'x-organization-id': owner.organization.id });
    expect(elsewhere.body.data.map(({ name }: { name: string }) => name)).toEqual(['own']);
  });

  test('T-01: ends with its record', async () => {
    const { person } = await consenting();
    const { body } = await second(person.organization.id);
    await asOwner(world, 'update delegations set deleted_at = now() where id = $1', [body.delegation_id]);
    expectProblem(await bearer(body.access_token).get('/v1/tasks'), 'unauthenticated');
  });

  test('is told to the owners', async () => {
    const { person } = await consenting();
    await beginSupport(world, fake, person.organization.id);
    const mails = (await waitForMails(world, person.user.email, 2)).join();
    expect(mails).toContain('Your organization is open to support');
    expect(mails).toContain('Support has access to your organization');
    expect(mails).toContain(staff.email);
    expect(mails).not.toContain('4711');
  });
});

/** What nobody does who acts as somebody else. */
async function refusedEverywhere(by: TestClient, { organization: home }: Person, member: Person): Promise<void> {
  const [held] = await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1', [
    member.user.id,
  ]);
  const [setting] = await asOwner<{ id: string }>(
    world,
    'select id from organization_settings where organization_id = $1',
    [home.id],
  );
  await expectClosed(by, isForPeople);
  for (const [method, url, payload] of [
    ['PATCH', `/v1/memberships/${held?.id}`, { role: 'admin' }],
    ['DELETE', `/v1/memberships/${held?.id}`, undefined],
    ...(setting
      ? ([['PATCH', `/v1/organization-settings/${setting.id}`, { requires_second_factor: false }]] as const)
      : []),
    ['PATCH', `/v1/users/${member.user.id}`, { display_name: 'renamed' }],
    ['DELETE', `/v1/organizations/${home.id}`, undefined],
  ] as const) {
    const answer = await by.mutate({ method, url, ...(payload === undefined ? {} : { payload }) });
    expectProblem(answer, 'permission_denied', `${method} ${url}`);
  }
  for (const mutation of [
    `updateMembership(id: "${held?.id}", input: { role: ADMIN }) { membership { id } }`,
    'createOrganization(input: { name: "of a delegate" }) { organization { id } }',
    'createApiToken(input: { name: "x", scopes: ["task:read"] }) { token }',
    `updateUser(id: "${member.user.id}", input: { displayName: "x" }) { user { id } }`,
  ])
    expectGraphqlError(await by.graphql(`mutation { ${mutation} }`), 'permission_denied', mutation);
}

describe('impersonation', () => {
  const impersonate = (by: TestClient, userId: string, more: object = {}) =>
    by.post('/v1/impersonation', { user_id: userId, reason, ...more });
  // The tests before moved the clock beyond the end of the session.
  beforeAll(async () => {
    client = await signedIn(world, owner);
  });
  const joined = (role: Role) => buildPerson(world, { organization: owner.organization, role });

  test('acts as a member, names both people, and is told to the member', async () => {
    const member = await joined('member');
    const own = await signedIn(world, member);
    const mine = await own.post('/v1/tasks', { title: 'of the member' });
    const { status, body } = await impersonate(client, member.user.id, { duration_minutes: 5 });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({ expires_in: 300, subject_id: member.user.id, organization_id: owner.organization.id });
    const by = bearer(body.access_token);
    const seen = await by.get(`/v1/tasks/${mine.body.id}`);
    expect(seen.status).toBe(200);
    expect(seen.headers['impersonation']).toContain(`id="${body.delegation_id}"`);
    expect(seen.headers['support-access']).toBeUndefined();
    const made = await by.post('/v1/tasks', { title: 'as the member' });
    expect(made.status).toBe(201);
    const actor = `user:${member.user.id} by user:${owner.user.id}`;
    expect(await asOwner(world, 'select created_by from tasks where id = $1', [made.body.id])).toEqual([
      { created_by: actor },
    ]);
    expect(await asOwner(world, `select actor from history where entity_id = $1`, [made.body.id])).toEqual([{ actor }]);
    expect((await client.get(`/v1/delegations/${body.delegation_id}`)).body).toMatchObject({
      type: 'impersonation',
      reason,
      actor_id: owner.user.id,
      actor_email: owner.user.email,
      subject_id: member.user.id,
    });
    const mails = await waitForMails(world, member.user.email);
    expect(mails.join()).toContain('Somebody acts as you');
    expect(mails.join()).toContain(owner.user.email);
    await refusedEverywhere(by, owner, member);
    world.clock.advance(300_000);
    expectProblem(await by.get('/v1/tasks'), 'unauthenticated');
  });

  test('reaches nothing of the member outside of the organization', async () => {
    const member = await joined('member');
    const elsewhere = await buildPerson(world);
    await asSystem(world, elsewhere.organization.id, (data) =>
      data.create(membership, { userId: member.user.id, role: 'admin' }),
    );
    const by = bearer((await impersonate(client, member.user.id)).body.access_token);
    const text = JSON.stringify([
      (await by.get('/v1/memberships?first=100')).body,
      (await by.get('/v1/organizations?first=100')).body,
      (
        await by.graphql(
          '{ self { id } organizations { edges { node { id name } } } memberships(first: 100) { edges { node { organizationId } } } }',
        )
      ).body,
    ]);
    expect(text).not.toContain(elsewhere.organization.id);
  });

  test('never goes upwards, sideways, to strangers, or on', async () => {
    const [admin, otherAdmin, superAdmin, member, auditor] = (await Promise.all(
      (['admin', 'admin', 'super_admin', 'member', 'auditor'] as const).map(joined),
    )) as [Person, Person, Person, Person, Person];
    const stranger = await buildPerson(world);
    const byAdmin = await signedIn(world, admin);
    for (const who of [owner, superAdmin, otherAdmin, admin, stranger])
      expectProblem(await impersonate(byAdmin, who.user.id), 'permission_denied', who.user.id);
    expectProblem(await impersonate(byAdmin, newId()), 'permission_denied');
    expectProblem(await impersonate(byAdmin, 'x'), 'invalid_input');
    for (const who of [member, auditor]) expect((await impersonate(byAdmin, who.user.id)).status).toBe(201);
    for (const who of [admin, member, auditor])
      expectProblem(await impersonate(await signedIn(world, member), who.user.id), 'permission_denied');
    expectProblem(await impersonate(await signedIn(world, auditor), member.user.id), 'permission_denied');
    const asMember = bearer((await impersonate(byAdmin, member.user.id)).body.access_token);
    expectProblem(await impersonate(asMember, auditor.user.id), 'permission_denied');
    for (const wrong of [{ reason: 'short' }, { reason: undefined }, { duration_minutes: 61 }, { duration_minutes: 0 }])
      expectProblem(await impersonate(byAdmin, member.user.id, wrong), 'invalid_input', JSON.stringify(wrong));
    expect(messageOf(await impersonate(byAdmin, newId()))).toBe(
      messageOf(await impersonate(byAdmin, superAdmin.user.id)),
    );
  });

  test('T-14: needs a recent proof', async () => {
    const member = await joined('member');
    const by = await signedIn(world, owner);
    world.clock.advance(11 * 60_000);
    expectProblem(await impersonate(by, member.user.id), 'step_up_required');
  });

  test('T-01: ends when either side loses the rights for it, and with the session from which it began', async () => {
    const change = (userId: string, role: Role) =>
      asSystem(world, owner.organization.id, async (data) => {
        const held = await data.findOne(membership, { userId: { eq: userId } });
        await data.update(membership, held?.id ?? '', { role });
      });
    const began = async () => {
      const [admin, member] = [await joined('admin'), await joined('member')];
      const by = await signedIn(world, admin);
      const { body } = await impersonate(by, member.user.id);
      const token = bearer(body.access_token);
      expect((await token.get('/v1/tasks')).status).toBe(200);
      return { admin, member, by, token, id: body.delegation_id as string };
    };
    const ends: readonly ((held: Awaited<ReturnType<typeof began>>) => Promise<unknown>)[] = [
      ({ by }) => by.post('/v1/logout'),
      ({ admin }) => change(admin.user.id, 'member'),
      ({ member }) => change(member.user.id, 'admin'),
      ({ member }) => asOwner(world, `update users set status = 'suspended' where id = $1`, [member.user.id]),
      ({ admin }) => asOwner(world, `update users set status = 'suspended' where id = $1`, [admin.user.id]),
      ({ member }) =>
        asSystem(world, owner.organization.id, async (data) => {
          const held = await data.findOne(membership, { userId: { eq: member.user.id } });
          await data.remove(membership, held?.id ?? '');
        }),
      ({ token }) => token.post('/v1/delegation/end'),
      async ({ id }) => (await signedIn(world, owner)).post(`/v1/delegations/${id}/end`),
    ];
    for (const [index, end] of ends.entries()) {
      const held = await began();
      await end(held);
      expectProblem(await held.token.get('/v1/tasks'), 'unauthenticated', String(index));
    }
  });

  test('begins for a pair of roles as `mayGiveRole` ranks them', async () => {
    const people = await Promise.all(
      roles.map(async (role) => ({ role, actor: await joined(role), subject: await joined(role) })),
    );
    for (const { role, actor } of people) {
      const by = await signedIn(world, actor);
      for (const { role: other, subject } of people) {
        const isAbove = !mayGiveRole(other, role) && !mayGiveRole(null, role);
        const { status, body } = await impersonate(by, subject.user.id);
        expect(status, `${role} as ${other}: ${JSON.stringify(body)}`).toBe(isAbove ? 201 : 403);
      }
    }
  });

  test('gives whoever acts no right that outlives it', async () => {
    const [admin, member, colleague] = [await joined('admin'), await joined('member'), await joined('member')];
    const [byAdmin, byMember] = [await signedIn(world, admin), await signedIn(world, member)];
    client = await signedIn(world, owner);
    const create = async (by: TestClient, url: string, payload: object): Promise<string> => {
      const { status, body } = await by.post(url, payload);
      expect(status, `${url} ${JSON.stringify(body)}`).toBe(201);
      return body.id;
    };
    const task = await create(byMember, '/v1/tasks', { title: 'of the member' });
    const above = await create(byAdmin, '/v1/tasks', { title: 'of the admin', assignee_id: member.user.id });
    // Both manage it: the admin is in it, and the member may change who is.
    const group = await create(client, '/v1/groups', { name: `group ${newId()}` });
    await create(client, '/v1/group-memberships', { group_id: group, user_id: admin.user.id });
    const own = await create(client, '/v1/group-memberships', {
      group_id: group,
      user_id: member.user.id,
      role: 'admin',
    });

    const by = bearer((await impersonate(byAdmin, member.user.id)).body.access_token);
    for (const [method, url, payload] of [
      ['PATCH', `/v1/tasks/${task}`, { assignee_id: admin.user.id }],
      ['PATCH', `/v1/tasks/${task}`, { parent_id: above }],
      ['POST', '/v1/tasks', { title: 'made as the member', assignee_id: admin.user.id }],
      ['POST', '/v1/task-shares', { task_id: task, group_id: group, relation: 'viewer' }],
      ['POST', '/v1/group-memberships', { group_id: group, user_id: colleague.user.id }],
      ['PATCH', `/v1/group-memberships/${own}`, { role: 'member' }],
      ['DELETE', `/v1/group-memberships/${own}`, undefined],
      ['POST', '/v1/group-settings', { group_id: group, visibility: 'public' }],
      ['POST', '/v1/creator-grants', { group_id: group, relation: 'task_creator' }],
      ['DELETE', `/v1/groups/${group}`, undefined],
    ] as const) {
      const answer = await by.mutate({ method, url, ...(payload === undefined ? {} : { payload }) });
      expectProblem(answer, 'permission_denied', `${method} ${url} ${JSON.stringify(payload)}`);
    }
    const nested = `mutation ($group: ID!) { createTask(input: { title: "x", createShares: [{ groupId: $group, relation: VIEWER }] }) { task { id } } }`;
    const bulk = `mutation ($ids: [ID!]!, $user: ID!) { updateBulkTask(ids: $ids, input: { assigneeId: $user }) { updatedIds } }`;
    const shared = await by.graphql(nested, { group });
    expect(JSON.stringify(shared)).toContain('may not do this');
    const assigned = await by.graphql(bulk, { ids: [task], user: admin.user.id });
    expect(assigned.data?.updateBulkTask.updatedIds, JSON.stringify(assigned.errors)).toEqual([]);
    // What the member does with the task themselves goes on.
    expect(
      (
        await by.mutate({
          method: 'PATCH',
          url: `/v1/tasks/${task}`,
          payload: { title: 'changed', assignee_id: colleague.user.id },
        })
      ).status,
    ).toBe(200);
    expect((await by.post('/v1/tasks', { title: 'below', parent_id: task })).status).toBe(201);
    await by.post('/v1/delegation/end');
    expectProblem(await byAdmin.get(`/v1/tasks/${task}`), 'not_found');
  });

  test('ends with the membership of either person, and does not come back when they are admitted again', async () => {
    const [admin, member, other] = [await joined('admin'), await joined('member'), await joined('member')];
    const byAdmin = await signedIn(world, admin);
    const asMember = bearer((await impersonate(byAdmin, member.user.id)).body.access_token);
    const asOther = bearer((await impersonate(byAdmin, other.user.id)).body.access_token);
    await readmit(world, owner.organization.id, member);
    expectProblem(await asMember.get('/v1/tasks'), 'unauthenticated');
    expect((await asOther.get('/v1/tasks')).status).toBe(200);
    await readmit(world, owner.organization.id, admin);
    expectProblem(await asOther.get('/v1/tasks'), 'unauthenticated');
    const anew = bearer((await impersonate(byAdmin, member.user.id)).body.access_token);
    expect((await anew.get('/v1/tasks')).status).toBe(200);
  });

  test('stays on record with its end, whoever ends it, and the mail names who has acted', async () => {
    const [admin, member, auditor] = [await joined('admin'), await joined('member'), await joined('auditor')];
    client = await signedIn(world, owner);
    const byAdmin = await signedIn(world, admin);
    const { body } = await impersonate(byAdmin, member.user.id);
    const id: string = body.delegation_id;
    expectProblem(await (await signedIn(world, auditor)).post(`/v1/delegations/${id}/end`), 'permission_denied');
    expectProblem(await (await signedIn(world, member)).post(`/v1/delegations/${id}/end`), 'not_found');
    expectProblem(
      await (await signedIn(world, await buildPerson(world))).post(`/v1/delegations/${id}/end`),
      'not_found',
    );
    expect((await client.get(`/v1/delegations/${id}`)).body.ended_at).toBeNull();
    expect((await bearer(body.access_token).post('/v1/delegation/end')).status).toBe(200);
    const ended = (await client.get(`/v1/delegations/${id}`)).body;
    expect(ended).toMatchObject({ actor_id: admin.user.id, subject_id: member.user.id, ended_at: expect.any(String) });
    // Neither does who has acted delete it, nor does a second end change the first.
    world.clock.advance(1_000);
    expect((await byAdmin.post(`/v1/delegations/${id}/end`)).status).toBe(200);
    expect((await byAdmin.mutate({ method: 'DELETE', url: `/v1/delegations/${id}` })).status).toBeGreaterThanOrEqual(
      400,
    );
    expect((await client.get('/v1/delegations?first=100')).body.data).toContainEqual(ended);
    const mail = await transactAs(world.runtime, systemCaller('test', owner.organization.id), (unit) =>
      readMail({ key: id, template: 'impersonation-begun', userId: member.user.id, about: { id, round: 1 } }, unit, {
        tokenKey: Buffer.alloc(32),
        apiUrl: '',
        consoleUrl: '',
        billingUrl: '',
        emailId: id,
      }),
    );
    expect(mail?.to).toBe(member.user.email);
    expect(mail?.content.paragraphs.join(' ')).toContain(`${admin.user.email}, who manages`);
    expect(mail?.content.paragraphs.join(' ')).toContain('acted there as you from');
  });

  test('a change that waits for a lock is refused when the access ends meanwhile', async () => {
    const member = await joined('member');
    const { body: task } = await (await signedIn(world, member)).post('/v1/tasks', { title: 'of the member' });
    const manager = await signedIn(world, owner);
    const { body } = await impersonate(manager, member.user.id);
    expect(body.access_token, JSON.stringify(body)).toBeDefined();
    const { consentId, client: own, person } = await consenting();
    const support = bearer(await beginSupport(world, fake, person.organization.id));
    const { body: ofSupport } = await support.post('/v1/tags', { name: 'of support' });
    for (const [by, table, id, end] of [
      [bearer(body.access_token), 'tasks', task.id, () => manager.post(`/v1/delegations/${body.delegation_id}/end`)],
      [support, 'tags', ofSupport.id, () => own.mutate({ method: 'DELETE', url: `/v1/support-consents/${consentId}` })],
    ] as const) {
      const release = await holdRow(world, table, id);
      const changed = by.mutate({
        method: 'PATCH',
        url: `/v1/${table}/${id}`,
        payload: { [table === 'tasks' ? 'title' : 'description']: 'changed too late' },
      });
      try {
        const early = await Promise.race([changed, waitForLocks(world, 1)]);
        expect(early, JSON.stringify(early)).toBeUndefined();
        expect((await end()).status).toBeLessThan(300);
      } finally {
        await release();
      }
      expectProblem(await changed, 'unauthenticated');
    }
  });

  test('changes records also as a member who lacks the second factor that the organization requires', async () => {
    const home = await buildPerson(world);
    const member = await buildPerson(world, { organization: home.organization, role: 'member' });
    const { body: task } = await (await signedIn(world, member)).post('/v1/tasks', { title: 'of the member' });
    const by = await signedIn(world, home);
    await enroll(world, by);
    await asOwner(world, 'update organization_settings set requires_second_factor = true where organization_id = $1', [
      home.organization.id,
    ]);
    const token = bearer((await impersonate(by, member.user.id)).body.access_token);
    expect((await token.get(`/v1/tasks/${task.id}`)).status).toBe(200);
    const changed = await token.mutate({ method: 'PATCH', url: `/v1/tasks/${task.id}`, payload: { title: 'changed' } });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  });

  test('only the token itself is ended by the route for it', async () => {
    expectProblem(await (await signedIn(world, owner)).post('/v1/delegation/end'), 'permission_denied');
    expectProblem(await world.client().post('/v1/delegation/end'), 'unauthenticated');
  });
});
