import type { Group, User } from '@microsoft/microsoft-graph-types';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Credential, Envelope } from '#activities/clients/integrations/definition.ts';
import { directoryServiceIntegration as definition } from '#activities/clients/integrations/directoryservice/definition.ts';
import { openEvaluator } from '../../activities/cel/opened-evaluator.ts';
import { FakeDirectoryService, globalAdministrator } from '../../kit/fakes/integrations/fake-directoryservice.ts';
import { misbehaviours } from '../../kit/fakes/integrations/misbehaviour.ts';
import { mappedRecords, mappedValues } from '../../kit/integrations/mapped-records.ts';
import { expectOneFailedPage } from '../../kit/integrations/failed-page.ts';
import { callbackUrl, ProviderContexts, signInOf, state } from '../../kit/integrations/provider-contexts.ts';
import { shows } from '../../kit/shows.ts';

const evaluator = openEvaluator();
const auth = signInOf(definition);
const [connection] = definition.connections;
const tenantId = 'aaaaaaaa-1111-4111-8111-000000000001';
const otherTenantId = 'bbbbbbbb-2222-4222-8222-000000000002';
const nextState = 'state-of-the-second-step';

let contexts: ProviderContexts;
let fake: FakeDirectoryService;

beforeAll(async () => {
  contexts = await ProviderContexts.open();
});
afterAll(() => contexts.close());

const settings = () => ({ clientid: fake.client.id, clientsecret: fake.client.secret, redirecturl: callbackUrl });

beforeEach(async () => {
  fake = await FakeDirectoryService.start(() => contexts.clock.now());
  contexts.urls = fake.urls;
  contexts.timeoutMs = 10_000;
  await contexts.set({ directoryservice: settings() });
  return () => fake.close();
});

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function user(number: number, values: Partial<User> = {}): User {
  return {
    id: id(number),
    userPrincipalName: `person${number}@example.com`,
    mail: `person${number}@example.com`,
    displayName: `Person ${number}`,
    givenName: 'Person',
    surname: String(number),
    accountEnabled: true,
    userType: 'Member',
    jobTitle: null,
    department: 'Finance',
    ...values,
  };
}

const group = (number: number): Group => ({ id: id(1_000 + number), displayName: `Group ${number}` });

const people = (count: number) => Array.from({ length: count }, (_none, index) => user(index + 1));

/** A credential of a tenant that lets the app in, without the way through the browser. */
function connected(tenant = tenantId): Credential {
  fake.consenting.add(tenant);
  return { tenantId: tenant, accessToken: fake.tokenOf({ tenantId: tenant, personId: null }) };
}

/** The parts of the sign-in in their order, as the browser makes them. */
async function connect(consenting: string, person: { readonly tenantId: string; readonly id: string }, userInput = {}) {
  const context = contexts.opening(userInput);
  const { url, kept } = await auth.begin(context, { state, callbackUrl });
  const consented = fake.consent(url, consenting).searchParams;
  const second = await auth.proceed?.(context, consented, { kept, state, nextState, callbackUrl });
  if (!second) throw new Error('there is no second step');
  const back = fake.approve(second.url, person).searchParams;
  return auth.finish(context, back, { kept: second.kept, state: nextState, callbackUrl });
}

/** All records of a pass. @param pages maximum number */
async function readAll(credential: Credential, userInput = {}, pages = 100): Promise<Envelope[]> {
  const operation = definition.operations.find(({ name }) => name === 'directorySync');
  if (operation?.policy !== 'run') throw new Error('there is no operation directorySync');
  const records: Envelope[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages; page++) {
    const read = await operation.readPage(contexts.context(credential, userInput), {}, cursor);
    records.push(...read.records);
    if (read.next === undefined) return records;
    cursor = read.next;
  }
  throw new Error(`the pass has more than ${pages} pages`);
}

const idsOf = (records: readonly Envelope[], kind: Envelope['kind']) =>
  records.filter((record) => record.kind === kind).map(({ payload }) => (payload as { readonly id?: unknown }).id);

const membershipsOf = (records: readonly Envelope[]) =>
  records
    .filter(({ kind }) => kind === 'directoryMembership')
    .map(({ payload }) => payload as { readonly group: string; readonly user: { readonly id: string } })
    .map(({ group: inGroup, user: member }) => [inGroup, member.id]);

test('an administrator connects a tenant, and its health check names it', async () => {
  fake.addTenant(tenantId, { name: 'Example Inc.', users: people(2) });
  const credential = await connect(tenantId, { tenantId, id: id(1) });
  expect(credential).toMatchObject({ tenantId });
  expect(await connection.check(contexts.context(credential))).toEqual({ id: tenantId, name: 'Example Inc.' });
  expect(connection.expiresAt?.(credential)).toEqual(new Date(contexts.clock.now().getTime() + 3_600_000));
});

test('the consent is asked of the named tenant, else of that of the operator, else of that of the person', async () => {
  const pathOf = async (userInput = {}) =>
    new URL((await auth.begin(contexts.opening(userInput), { state, callbackUrl })).url).pathname;
  expect(await pathOf()).toBe('/organizations/v2.0/adminconsent');
  expect(await pathOf({ tenant: 'example.com' })).toBe('/example.com/v2.0/adminconsent');
  await contexts.set({ directoryservice: { ...settings(), defaulttenant: 'operator.example' } });
  expect(await pathOf()).toBe('/operator.example/v2.0/adminconsent');
  expect(await pathOf({ tenant: 'example.com' })).toBe('/example.com/v2.0/adminconsent');
  shows('integrations.directoryservice.defaulttenant');
});

test('settings of the operator decide whether it is offered and where browsers return to', async () => {
  const isOffered = () => definition.isOffered(contexts.config);
  expect([isOffered(), definition.callbackUrl?.(contexts.config)]).toEqual([true, callbackUrl]);
  fake.addTenant(tenantId, { users: people(1) });
  await contexts.set({ directoryservice: { ...settings(), clientsecret: 'another one' } });
  await expect(connect(tenantId, { tenantId, id: id(1) })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('Report it to those who operate the server'),
  });
  await contexts.set({});
  expect(isOffered()).toBe(false);
  shows(
    'integrations.directoryservice.clientid',
    'integrations.directoryservice.clientsecret',
    'integrations.directoryservice.redirecturl',
  );
});

test('a tenant that another organization has connected is not opened by its id in the callback', async () => {
  fake.addTenant(tenantId, { users: people(1) });
  fake.addTenant(otherTenantId, { users: people(1) });
  fake.consenting.add(tenantId);
  await expect(connect(tenantId, { tenantId: otherTenantId, id: id(1) })).rejects.toMatchObject({
    code: 'invalid_answer',
  });
});

test('a person of the tenant who is not an administrator cannot connect it', async () => {
  fake.addTenant(tenantId, {
    users: people(2),
    roles: new Map([
      [id(1), [globalAdministrator]],
      [id(2), ['other']],
    ]),
  });
  await expect(connect(tenantId, { tenantId, id: id(2) })).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('not an administrator of the tenant'),
  });
});

test.each([
  ['without consent', { tenant: tenantId, admin_consent: 'False' }, 'refused'],
  ['with an error', { error: 'access_denied', error_description: 'AADSTS65004', admin_consent: 'True' }, 'refused'],
  ['without a tenant', { admin_consent: 'True' }, 'invalid_answer'],
  ['with a path in place of the tenant', { admin_consent: 'True', tenant: '../common' }, 'invalid_answer'],
])('a callback %s ends the sign-in before anything is asked', async (_what, parameters, code) => {
  const proceed = auth.proceed?.(contexts.opening(), new URLSearchParams(parameters), {
    kept: {},
    state,
    nextState,
    callbackUrl,
  });
  await expect(proceed).rejects.toMatchObject({ code });
  const finish = auth.finish(contexts.opening(), new URLSearchParams(parameters), { kept: {}, state, callbackUrl });
  await expect(finish).rejects.toMatchObject({ code: 'refused' });
  expect(fake.requests).toEqual([]);
});

test.each([
  ['aud', 'another-app'],
  ['iss', 'https://login.example.com/v2.0'],
  ['nonce', 'another-nonce'],
  ['exp', 1],
  ['iat', 1],
  ['iat', 99_999_999_999],
  ['tid', otherTenantId],
  ['oid', undefined],
])('an id token with a wrong %s (%s) is refused', async (claim, value) => {
  fake.addTenant(tenantId, { users: people(1) });
  fake.claims = (claims) => ({ ...claims, [claim]: value });
  await expect(connect(tenantId, { tenantId, id: id(1) })).rejects.toMatchObject({ code: 'invalid_answer' });
});

test('a pass brings in users, groups and the members of each group, one request for each page', async () => {
  fake.addTenant(tenantId, {
    users: people(5),
    groups: [group(1), group(2), group(3)],
    members: new Map([
      [id(1_001), [id(1), id(2), id(3)]],
      [id(1_003), [id(5)]],
    ]),
  });
  fake.pageSize = 2;
  const records = await readAll(connected());
  expect(idsOf(records, 'directoryAccount')).toEqual([1, 2, 3, 4, 5].map(id));
  expect(idsOf(records, 'directoryGroup')).toEqual([1_001, 1_002, 1_003].map(id));
  expect(membershipsOf(records)).toEqual([
    [id(1_001), id(1)],
    [id(1_001), id(2)],
    [id(1_001), id(3)],
    [id(1_003), id(5)],
  ]);
  // Users 3, groups 2, members 2 + 1 + 1.
  expect(fake.requests).toHaveLength(9);
});

test('groups that contain each other have the people of both, each once', async () => {
  fake.addTenant(tenantId, {
    users: people(2),
    groups: [group(1), group(2)],
    members: new Map([
      [id(1_001), [id(1), id(1_002)]],
      [id(1_002), [id(2), id(1_001)]],
    ]),
  });
  expect(membershipsOf(await readAll(connected()))).toEqual([
    [id(1_001), id(1)],
    [id(1_001), id(2)],
    [id(1_002), id(1)],
    [id(1_002), id(2)],
  ]);
});

test('guests stay out with their memberships, unless the organization wants them', async () => {
  fake.addTenant(tenantId, {
    users: [user(1), user(2, { userType: 'Guest' })],
    groups: [group(1)],
    members: new Map([[id(1_001), [id(1), id(2)]]]),
  });
  const without = await readAll(connected());
  expect([idsOf(without, 'directoryAccount'), membershipsOf(without)]).toEqual([[id(1)], [[id(1_001), id(1)]]]);
  const all = await readAll(connected(), { includeGuestUsers: true });
  expect([idsOf(all, 'directoryAccount'), membershipsOf(all)]).toEqual([
    [id(1), id(2)],
    [
      [id(1_001), id(1)],
      [id(1_001), id(2)],
    ],
  ]);
});

test('groups are not asked for when the organization does not want them', async () => {
  fake.addTenant(tenantId, { users: people(3), groups: [group(1)] });
  const records = await readAll(connected(), { disableGroupSync: true });
  expect(records.map(({ kind }) => kind)).toEqual(Array.from({ length: 3 }, () => 'directoryAccount'));
  expect(fake.requests.map(({ path }) => path)).toEqual(['/v1.0/users']);
});

test('a group that is deleted while it is read has no members, and the pass continues', async () => {
  const tenant = fake.addTenant(tenantId, {
    users: people(1),
    groups: [group(1), group(2)],
    members: new Map([[id(1_002), [id(1)]]]),
  });
  fake.records = (records, collection) => {
    // Not in the directory any more when its members are asked for.
    if (collection === 'groups') tenant.groups.shift();
    return records;
  };
  const records = await readAll(connected());
  expect(idsOf(records, 'directoryGroup')).toEqual([id(1_001), id(1_002)]);
  expect(membershipsOf(records)).toEqual([[id(1_002), id(1)]]);
});

test.each([410, 400] as const)(
  'a position that is not valid any more (status %i) begins the pass again',
  async (status) => {
    fake.addTenant(tenantId, { users: people(3) });
    fake.pageSize = 2;
    let pages = 0;
    fake.records = (records) => {
      if (pages++ === 0) fake.expirePositions(status);
      return records;
    };
    await expect(readAll(connected())).rejects.toMatchObject({ code: 'cursor_expired' });
  },
);

test.each([
  ['to another host', () => 'https://attacker.example/v1.0/users?$skiptoken=1'],
  ['to a host that begins like the graph', (link: string) => link.replace('127.0.0.1', '127.0.0.1.attacker.example')],
  ['to another port', (link: string) => link.replace(/:\d+/, ':1')],
  ['with credentials', (link: string) => link.replace('://', '://user:pw@')],
  ['beside the version', (link: string) => link.replace('/v1.0/', '/beta/')],
  ['without the protocol', (link: string) => link.replace('http:', '')],
  ['that is no text', () => ({ href: 'x' })],
  ['of a megabyte', (link: string) => link + 'x'.repeat(1_000_000)],
])('a link %s is not followed', async (_what, lie: (link: string) => unknown) => {
  fake.addTenant(tenantId, { users: people(3) });
  fake.pageSize = 2;
  fake.nextLink = (link) => (link === undefined ? undefined : lie(link));
  await expect(readAll(connected())).rejects.toMatchObject({
    code: 'invalid_answer',
    message: expect.stringContaining('leads elsewhere'),
  });
  expect(fake.requests).toHaveLength(1);
});

test('a page that names itself as the next one ends the pass', async () => {
  fake.addTenant(tenantId, { users: people(3) });
  fake.pageSize = 2;
  let first: string | undefined;
  fake.nextLink = (link) => (first ??= link);
  await expect(readAll(connected())).rejects.toMatchObject({ code: 'invalid_answer' });
  expect(fake.requests).toHaveLength(2);
});

test('records are passed on as they come: repeated, in any order, and wrong ones, which the run names', async () => {
  fake.addTenant(tenantId, { users: people(2) });
  fake.records = (records) => [
    ...records.toReversed(),
    ...records,
    { id: 1.2e18, accountEnabled: true },
    null,
    { id: id(9) },
  ];
  const records = await readAll(connected(), { disableGroupSync: true });
  const results = await mappedRecords(evaluator, definition, records);
  expect(
    results.map((result) =>
      'error' in result ? result.error.code : (result.value as { externalId: unknown }).externalId,
    ),
  ).toEqual([
    id(2),
    id(1),
    id(1),
    id(2),
    // No text, so the kind refuses it.
    1_200_000_000_000_000_000,
    'wrong_type',
    'no_such_key',
  ]);
});

test('a user, a group and a membership become records of the kinds', async () => {
  fake.addTenant(tenantId, {
    users: [user(1, { accountEnabled: false, jobTitle: 'Auditor' })],
    groups: [
      { ...group(1), mail: 'group@example.com', description: 'All of it', securityEnabled: true, groupTypes: [] },
    ],
    members: new Map([[id(1_001), [id(1)]]]),
  });
  expect(await mappedValues(evaluator, definition, await readAll(connected()))).toEqual([
    {
      externalId: id(1),
      userName: 'person1@example.com',
      email: 'person1@example.com',
      displayName: 'Person 1',
      givenName: 'Person',
      familyName: '1',
      isActive: false,
      attributes: { userType: 'Member', jobTitle: 'Auditor', department: 'Finance' },
    },
    {
      externalId: id(1_001),
      displayName: 'Group 1',
      email: 'group@example.com',
      description: 'All of it',
      attributes: { securityEnabled: true, groupTypes: [] },
    },
    { account: id(1), group: id(1_001) },
  ]);
});

test.each([
  ['its mail', { mail: 'Mail@example.com', userPrincipalName: 'name@example.com' }, 'Mail@example.com'],
  ['its name without a mailbox', { mail: null, userPrincipalName: 'name@example.com' }, 'name@example.com'],
  ['none as a guest', { mail: null, userPrincipalName: 'guest_example.org#EXT#@example.com' }, null],
  ['none without either', { mail: null, userPrincipalName: null }, null],
])('the address of a user is %s', async (_what, values, email) => {
  fake.addTenant(tenantId, { users: [user(1, values)] });
  const [account] = await mappedValues(evaluator, definition, await readAll(connected()));
  expect(account).toMatchObject({ email });
});

test('an access token that ended is refused, and the app gets a new one while the tenant lets it in', async () => {
  fake.addTenant(tenantId, { users: people(1) });
  const credential = connected();
  fake.endTokens();
  await expect(readAll(credential)).rejects.toMatchObject({ code: 'unauthorized' });
  const renewed = await connection.refresh?.(contexts.context(credential));
  expect(await readAll(renewed ?? {})).toHaveLength(1);
  fake.consenting.clear();
  await expect(connection.refresh?.(contexts.context(credential))).rejects.toMatchObject({ code: 'unauthorized' });
});

test('the directory of another tenant than the connected one fails the health check', async () => {
  fake.addTenant(otherTenantId, {});
  const accessToken = fake.tokenOf({ tenantId: otherTenantId, personId: null });
  await expect(connection.check(contexts.context({ tenantId, accessToken }))).rejects.toMatchObject({
    code: 'refused',
  });
});

test.each(misbehaviours)(
  'a provider that answers with "%s" fails the page once, and a later attempt has it',
  async (one) => {
    fake.addTenant(tenantId, { users: people(1) });
    const credential = connected();
    await expectOneFailedPage(one, fake, contexts, () => readAll(credential, { disableGroupSync: true }));
  },
);

test('errors have neither tokens nor secrets nor what the provider answered', async () => {
  fake.addTenant(tenantId, { users: people(1) });
  const credential = connected();
  fake.consenting.clear();
  fake.endTokens();
  const errors: unknown[] = [];
  for (const attempt of [readAll(credential), connection.refresh?.(contexts.context(credential))])
    await attempt?.catch((error: unknown) => errors.push(error));
  await contexts.set({ directoryservice: { ...settings(), clientsecret: 'another-secret' } });
  await connection.refresh?.(contexts.context(credential)).catch((error: unknown) => errors.push(error));
  expect(errors).toHaveLength(3);
  for (let error of errors)
    for (; error instanceof Error; error = error.cause) {
      const text = `${error.message} ${JSON.stringify(error)} ${error.stack}`;
      for (const secret of [...fake.secrets, fake.client.secret, 'another-secret', 'AADSTS', 'message of'])
        expect(text).not.toContain(secret);
    }
});
