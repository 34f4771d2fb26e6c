import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Credential } from '#activities/clients/integrations/definition.ts';
import { officeSuiteIntegration as definition } from '#activities/clients/integrations/officesuite/definition.ts';
import { openEvaluator } from '../../activities/cel/opened-evaluator.ts';
import { FakeOfficeSuite } from '../../kit/fakes/integrations/fake-officesuite.ts';
import { misbehaviours } from '../../kit/fakes/integrations/misbehaviour.ts';
import { mappedRecords, mappedValues } from '../../kit/integrations/mapped-records.ts';
import { expectOneFailedPage } from '../../kit/integrations/failed-page.ts';
import { callbackUrl, ProviderContexts, signInOf, state } from '../../kit/integrations/provider-contexts.ts';
import { expectNone, wholePass } from '../../kit/integrations/whole-pass.ts';
import { shows } from '../../kit/shows.ts';

const evaluator = openEvaluator();
const auth = signInOf(definition);
const [connection] = definition.connections;
const id = 'C01abc234';

let contexts: ProviderContexts;
let fake: FakeOfficeSuite;

beforeAll(async () => {
  contexts = await ProviderContexts.open();
});
afterAll(() => contexts.close());

const settings = () => ({ clientid: fake.client.id, clientsecret: fake.client.secret, redirecturl: callbackUrl });

beforeEach(async () => {
  fake = await FakeOfficeSuite.start(() => contexts.clock.now());
  contexts.urls = fake.urls;
  contexts.timeoutMs = 10_000;
  await contexts.set({ officesuite: settings() });
  return () => fake.close();
});

const user = (number: number, values = {}) => ({
  id: `10000000000000000000${number}`,
  primaryEmail: `person${number}@example.com`,
  name: { fullName: `Person ${number}`, givenName: 'Person', familyName: String(number) },
  suspended: false,
  archived: false,
  isAdmin: number === 1,
  orgUnitPath: '/',
  ...values,
});
const people = (count: number) => Array.from({ length: count }, (_none, index) => user(index + 1));
const group = (number: number) => ({
  id: `0group${number}`,
  name: `Group ${number}`,
  email: `group${number}@example.com`,
});
const userIn = (number: number, role = 'MEMBER') => ({ id: user(number).id, type: 'USER', role });
const groupIn = (number: number) => ({ id: group(number).id, type: 'GROUP', role: 'MEMBER' });

async function connect(customerId: string, options = {}): Promise<Credential> {
  const context = contexts.opening();
  const { url, kept } = await auth.begin(context, { state, callbackUrl });
  const back = fake.approve(url, customerId, options);
  return auth.finish(context, back.searchParams, { kept, state, callbackUrl });
}

const connected = (): Credential => ({ accessToken: fake.tokenOf({ customerId: id, isAdministrator: true }) });

const readAll = (credential: Credential, userInput = {}) =>
  wholePass(definition, () => contexts.context(credential, userInput));

test('an administrator connects the suite, and the health check names it', async () => {
  fake.addCustomer(id, { domain: 'example.com' });
  const credential = await connect(id);
  expect(await connection.check(contexts.context(credential))).toEqual({ id, name: 'example.com' });
  expect(connection.expiresAt?.(credential)).toEqual(new Date(contexts.clock.now().getTime() + 3_600_000));
});

test('settings of the operator decide whether it is offered and where browsers return to', async () => {
  fake.addCustomer(id);
  expect([definition.isOffered(contexts.config), definition.callbackUrl?.(contexts.config)]).toEqual([
    true,
    callbackUrl,
  ]);
  await contexts.set({ officesuite: { ...settings(), clientsecret: 'another one' } });
  await expect(connect(id)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('Report it to those who operate the server'),
  });
  await contexts.set({});
  expect(definition.isOffered(contexts.config)).toBe(false);
  shows(
    'integrations.officesuite.clientid',
    'integrations.officesuite.clientsecret',
    'integrations.officesuite.redirecturl',
  );
});

test('a person who is no administrator, or keeps back a permission, is told so', async () => {
  fake.addCustomer(id);
  const credential = await connect(id, { isAdministrator: false });
  await expect(connection.check(contexts.context(credential))).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('Let an administrator'),
  });
  fake.grantedScopes = ['https://www.googleapis.com/auth/admin.directory.user.readonly'];
  await expect(connect(id)).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('admin.directory.group.readonly was not given'),
  });
});

test('the sign-in is bound to its state and its verifier', async () => {
  fake.addCustomer(id);
  const context = contexts.opening();
  const { url, kept } = await auth.begin(context, { state, callbackUrl });
  const back = fake.approve(url, id).searchParams;
  const other = { ...kept, verifier: 'x'.repeat(43) };
  await expect(auth.finish(context, back, { kept: other, state, callbackUrl })).rejects.toMatchObject({
    code: 'unauthorized',
  });
  const again = fake.approve(url, id).searchParams;
  await expect(auth.finish(context, again, { kept, state: 'another', callbackUrl })).rejects.toMatchObject({
    code: 'invalid_answer',
  });
});

test('an access token that ended is renewed while the consent lasts, also with tokens that rotate', async () => {
  fake.addCustomer(id, { users: people(1) });
  const credential = await connect(id);
  fake.endTokens();
  await expect(readAll(credential)).rejects.toMatchObject({ code: 'unauthorized' });
  const renewed = await connection.refresh?.(contexts.context(credential));
  expect(renewed?.['refreshToken']).toBe(credential['refreshToken']);
  fake.rotates = true;
  const rotated = await connection.refresh?.(contexts.context(renewed ?? {}));
  expect(rotated?.['refreshToken']).not.toBe(credential['refreshToken']);
  expect(await readAll(rotated ?? {})).toHaveLength(1);
  fake.endRefreshTokens();
  await expect(connection.refresh?.(contexts.context(rotated ?? {}))).rejects.toMatchObject({ code: 'unauthorized' });
});

test('disconnecting takes back the consent, also if it was taken back already', async () => {
  fake.addCustomer(id);
  const context = contexts.context(await connect(id));
  await connection.revoke?.(context);
  await expect(connection.refresh?.(context)).rejects.toMatchObject({ code: 'unauthorized' });
  await connection.revoke?.(context);
});

test('a pass brings in users, groups and the members of each group, one request for each page', async () => {
  fake.addCustomer(id, {
    users: people(5),
    groups: [group(1), group(2), group(3)],
    members: new Map([
      [group(1).id, [userIn(1), userIn(2, 'OWNER'), userIn(3)]],
      [group(3).id, [userIn(5), { id: 'C0', type: 'CUSTOMER' }]],
    ]),
  });
  fake.pageSize = 2;
  const values = await mappedValues(evaluator, definition, await readAll(connected()));
  expect(values).toEqual([
    ...[1, 2, 3, 4, 5].map((number) => expect.objectContaining({ externalId: user(number).id })),
    ...[1, 2].map((number) => expect.objectContaining({ externalId: group(number).id })),
    { account: user(1).id, group: group(1).id, role: 'MEMBER' },
    { account: user(2).id, group: group(1).id, role: 'OWNER' },
    { account: user(3).id, group: group(1).id, role: 'MEMBER' },
    expect.objectContaining({ externalId: group(3).id }),
    { account: user(5).id, group: group(3).id, role: 'MEMBER' },
  ]);
  // Users 3, groups 2, members 2 + 1 + 1.
  expect(fake.requests).toHaveLength(9);
  expect(fake.requests[1]?.query.get('pageToken')).toBe('2.0');
});

test('a member without a type comes in and is named, so that nothing is removed because of it', async () => {
  fake.addCustomer(id, {
    users: people(1),
    groups: [group(1)],
    members: new Map([[group(1).id, [{ role: 'MEMBER' }, { id: 'x', type: 'EXTERNAL' }, userIn(1)]]]),
  });
  const results = await mappedRecords(evaluator, definition, await readAll(connected()));
  expect(results.map((result) => 'error' in result)).toEqual([false, false, true, false]);
});

test('groups that contain each other have the people of both, each once', async () => {
  fake.addCustomer(id, {
    users: people(2),
    groups: [group(1), group(2)],
    members: new Map([
      [group(1).id, [userIn(1), groupIn(2)]],
      [group(2).id, [userIn(2), groupIn(1)]],
    ]),
  });
  const values = await mappedValues(evaluator, definition, await readAll(connected()));
  expect(values.slice(4)).toEqual(
    [
      [1, 1],
      [2, 1],
      [2, 2],
      [1, 2],
    ].map(([person = 0, inGroup = 0]) => ({ account: user(person).id, group: group(inGroup).id, role: 'MEMBER' })),
  );
});

test('groups are not asked for when the organization does not want them', async () => {
  fake.addCustomer(id, { users: people(3), groups: [group(1)] });
  expect(await readAll(connected(), { disableGroupSync: true })).toHaveLength(3);
  expect(fake.requests).toHaveLength(1);
});

test('a user and a group become records of the kinds', async () => {
  fake.addCustomer(id, {
    users: [user(1), user(2, { suspended: true }), user(3, { archived: true })],
    groups: [{ ...group(1), description: 'All of it' }],
  });
  expect(await mappedValues(evaluator, definition, await readAll(connected()))).toEqual([
    {
      externalId: user(1).id,
      userName: 'person1@example.com',
      email: 'person1@example.com',
      displayName: 'Person 1',
      givenName: 'Person',
      familyName: '1',
      isActive: true,
      attributes: { isAdmin: true, orgUnitPath: '/' },
    },
    expect.objectContaining({ isActive: false }),
    expect.objectContaining({ isActive: false }),
    {
      externalId: group(1).id,
      displayName: 'Group 1',
      email: 'group1@example.com',
      description: 'All of it',
    },
  ]);
});

test('records are passed on as they come: repeated, in any order, and wrong ones, which the run names', async () => {
  fake.addCustomer(id, { users: people(2) });
  fake.records = (records) => [
    ...records.toReversed(),
    ...records,
    null,
    { id: '9' },
    { id: '8', suspended: false },
    { id: 1.2e18, suspended: false },
  ];
  const records = await readAll(connected(), { disableGroupSync: true });
  const results = await mappedRecords(evaluator, definition, records);
  expect(results.map((result) => ('error' in result ? 'error' : (result.value as Credential)['externalId']))).toEqual([
    ...[2, 1, 1, 2].map((number) => user(number).id),
    'error',
    'error',
    '8',
    '1200000000000000000',
  ]);
});

test('a group that is deleted while it is read has no members, and the pass continues', async () => {
  const customer = fake.addCustomer(id, {
    groups: [group(1), group(2)],
    members: new Map([[group(2).id, [userIn(1)]]]),
  });
  fake.records = (records, collection) => {
    // Not in the directory any more when its members are asked for.
    if (collection === 'groups') customer.groups.shift();
    return records;
  };
  const values = await mappedValues(evaluator, definition, await readAll(connected()));
  expect(values).toEqual([
    expect.objectContaining({ externalId: group(1).id }),
    expect.objectContaining({ externalId: group(2).id }),
    { account: user(1).id, group: group(2).id, role: 'MEMBER' },
  ]);
});

test.each([
  ['the position of the page itself', () => '2.0'],
  ['a position that is no text', () => 7],
  ['a position of a megabyte', () => 'x'.repeat(1_000_000)],
])('a page that names %s as the next one ends the pass', async (_what, lie) => {
  fake.addCustomer(id, { users: people(5) });
  fake.pageSize = 2;
  fake.nextToken = lie;
  await expect(readAll(connected())).rejects.toMatchObject({ code: 'invalid_answer' });
});

test('a position that is not valid any more begins the pass again', async () => {
  fake.addCustomer(id, { users: people(3) });
  fake.pageSize = 2;
  let pages = 0;
  fake.records = (records) => {
    if (pages++ === 0) fake.expirePositions();
    return records;
  };
  await expect(readAll(connected())).rejects.toMatchObject({ code: 'cursor_expired' });
});

test.each(misbehaviours)(
  'a suite that answers with "%s" fails the page once, and a later attempt has it',
  async (one) => {
    fake.addCustomer(id, { users: people(1) });
    const credential = connected();
    await expectOneFailedPage(one, fake, contexts, () => readAll(credential));
  },
);

test('errors have neither tokens nor secrets nor what the suite answered', async () => {
  fake.addCustomer(id);
  const credential = await connect(id);
  const errors: unknown[] = [];
  const keep = (error: unknown) => errors.push(error);
  fake.endTokens();
  fake.endRefreshTokens();
  await readAll(credential).catch(keep);
  await connection.refresh?.(contexts.context(credential)).catch(keep);
  await contexts.set({ officesuite: { ...settings(), clientsecret: 'another-secret' } });
  await connect(id).catch(keep);
  expect(errors).toHaveLength(3);
  expectNone([...fake.secrets, fake.client.secret, 'another-secret', 'message of'], errors);
});
