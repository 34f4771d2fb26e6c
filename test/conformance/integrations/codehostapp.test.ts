import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { codeHostAppIntegration as definition } from '#activities/clients/integrations/codehostapp/definition.ts';
import type { Credential } from '#activities/clients/integrations/definition.ts';
import { openEvaluator } from '../../activities/cel/opened-evaluator.ts';
import { FakeCodeHost, type FakeUser } from '../../kit/fakes/integrations/fake-codehostapp.ts';
import { misbehaviours } from '../../kit/fakes/integrations/misbehaviour.ts';
import { mappedRecords, mappedValues } from '../../kit/integrations/mapped-records.ts';
import { expectOneFailedPage } from '../../kit/integrations/failed-page.ts';
import { callbackUrl, ProviderContexts, signInOf, state } from '../../kit/integrations/provider-contexts.ts';
import { expectNone, inlineRun, wholePass } from '../../kit/integrations/whole-pass.ts';
import { shows } from '../../kit/shows.ts';

const evaluator = openEvaluator();
const auth = signInOf(definition);
const [connection] = definition.connections;
const id = '51234567';

let contexts: ProviderContexts;
let fake: FakeCodeHost;

beforeAll(async () => {
  contexts = await ProviderContexts.open();
});
afterAll(() => contexts.close());

beforeEach(async () => {
  fake = await FakeCodeHost.start(() => contexts.clock.now());
  contexts.urls = fake.urls;
  contexts.timeoutMs = 10_000;
  await contexts.set({ codehostapp: fake.settings });
  return () => fake.close();
});

const user = (number: number): FakeUser => ({ id: number, login: `person${number}`, type: 'User' });
const people = (count: number) => Array.from({ length: count }, (_none, index) => user(index + 1));

/** Begins the installation, does something at the code host, and comes back. */
async function connect(atCodeHost: () => Readonly<Record<string, string>>): Promise<Credential> {
  const context = contexts.opening();
  const { url, kept } = await auth.begin(context, { state, callbackUrl });
  expect(new URL(url).searchParams.get('state')).toBe(state);
  const answer = new URLSearchParams({ ...atCodeHost(), state });
  return auth.finish(context, answer, { kept, state, callbackUrl });
}

function installed(): Record<string, string> {
  fake.install(id);
  return { installation_id: id, setup_action: 'install' };
}

function connected(): Credential {
  const { token, expiresAt } = fake.tokenOf(id);
  const { login, type } = fake.installations.get(id)?.account ?? {};
  const isOrganization = type === 'Organization';
  return { installationId: id, login, isOrganization, accessToken: token, expiresAt: expiresAt.toISOString() };
}

const readAll = (credential: Credential, pages?: number) =>
  wholePass(definition, () => contexts.context(credential), pages);

test('an owner installs the app, and the health check names the account', async () => {
  const credential = await connect(installed);
  expect(credential).toMatchObject({ installationId: id, login: `org-${id}` });
  expect(await connection.check(contexts.context(credential))).toEqual({ id, name: `org-${id}` });
  expect(connection.expiresAt?.(credential)).toEqual(new Date(contexts.clock.now().getTime() + 3_600_000));
});

test('settings of the operator decide whether it is offered and where the app is installed', async () => {
  const { url } = await auth.begin(contexts.opening(), { state, callbackUrl });
  expect(url).toBe(`${fake.url}/apps/core-app/installations/new?state=${state}`);
  shows('integrations.codehostapp.appslug');
  expect(definition.isOffered(contexts.config)).toBe(true);
  fake.install(id);
  const credential = connected();
  for (const wrong of [{ appid: '654321' }, { privatekey: (await FakeCodeHost.start()).privateKey }]) {
    await contexts.set({ codehostapp: { ...fake.settings, ...wrong } });
    await expect(connection.check(contexts.context(credential))).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('Report it to those who operate the server'),
    });
  }
  await contexts.set({});
  expect(definition.isOffered(contexts.config)).toBe(false);
  shows('integrations.codehostapp.appid', 'integrations.codehostapp.privatekey');
});

test('a key with escaped line breaks, as environments have them, is read', async () => {
  fake.install(id);
  const privatekey = fake.privateKey.replaceAll('\n', String.raw`\n`);
  await contexts.set({ codehostapp: { ...fake.settings, privatekey } });
  expect(await connection.check(contexts.context(connected()))).toMatchObject({ id });
});

test.each([
  ['is no PEM', 'not a key at all'],
  ['has only its first line', '-----BEGIN RSA PRIVATE KEY-----'],
  ['has spoilt bytes', `-----BEGIN RSA PRIVATE KEY-----\n${'A'.repeat(400)}\n-----END RSA PRIVATE KEY-----\n`],
])('a private key that %s gives a clear error before anything is asked', async (_what, privatekey) => {
  fake.install(id);
  await contexts.set({ codehostapp: { ...fake.settings, privatekey } });
  const error: unknown = await connection.check(contexts.context(connected())).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'refused',
    message: expect.stringContaining('integrations.codehostapp.privatekey is not the RSA key of an app in PEM form'),
  });
  expectNone([privatekey], [error]);
  expect(fake.requests).toEqual([]);
});

test('an installation that another customer made before is not opened by its id in the callback', async () => {
  fake.install(id);
  contexts.clock.advance(3_600_000);
  await expect(connect(() => ({ installation_id: id, setup_action: 'install' }))).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('before this sign-in began'),
  });
});

test('an installation that is changed during the sign-in is connected', async () => {
  const installation = fake.install(id);
  contexts.clock.advance(3_600_000);
  const credential = await connect(() => {
    installation.updatedAt = contexts.clock.now();
    return { installation_id: id, setup_action: 'update' };
  });
  expect(credential).toMatchObject({ installationId: id });
});

test.each([
  ['without an installation', { setup_action: 'install' }, 'invalid_answer'],
  ['with a path in place of the installation', { installation_id: '1/../2' }, 'invalid_answer'],
  ['with an exponent', { installation_id: '1.2e+18' }, 'invalid_answer'],
  ['of a request that an owner has to approve', { setup_action: 'request' }, 'refused'],
  ['with an unknown installation', { installation_id: '9' }, 'refused'],
])('a callback %s is refused', async (_what, answer, code) => {
  await expect(connect(() => answer)).rejects.toMatchObject({ code });
});

test('an id beyond 2^53 is the one that was asked for, to its last digit', async () => {
  const large = '9007199254740993';
  fake.install(large);
  const credential = await connect(() => ({ installation_id: large }));
  expect(credential).toMatchObject({ installationId: large });
  expect(fake.requests.map(({ path }) => path)).toEqual([
    `/app/installations/${large}`,
    `/app/installations/${large}/access_tokens`,
  ]);
});

test('an installation that is suspended or gone has to be connected again', async () => {
  const installation = fake.install(id);
  const context = contexts.context(connected());
  installation.suspendedAt = contexts.clock.now();
  await expect(connection.refresh?.(context)).rejects.toMatchObject({
    code: 'unauthorized',
    message: expect.stringContaining('suspended'),
  });
  installation.suspendedAt = null;
  expect(await connection.refresh?.(context)).toMatchObject({ installationId: id });
  fake.installations.delete(id);
  await expect(connection.check(context)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('disconnecting uninstalls the app, also if it is uninstalled already', async () => {
  fake.install(id);
  const context = contexts.context(connected());
  await connection.revoke?.(context);
  expect([...fake.installations.keys()]).toEqual([]);
  await connection.revoke?.(context);
});

test('a token that ended is refused once and renewed', async () => {
  fake.install(id, { members: people(1) });
  const credential = connected();
  fake.endTokens();
  await expect(readAll(credential)).rejects.toMatchObject({ code: 'unauthorized' });
  expect(fake.requests).toHaveLength(1);
  const renewed = await connection.refresh?.(contexts.context(credential));
  expect(await readAll(renewed ?? {})).toHaveLength(1);
});

test('a pass brings in members, teams and the members of each team, one request for each page', async () => {
  fake.install(id, {
    members: people(5),
    teams: ['one', 'two', 'three'].map((slug, index) => ({ id: 70 + index, slug, name: slug })),
    teamMembers: new Map([
      ['one', [user(1), user(2), user(3)]],
      ['three', [user(5)]],
    ]),
  });
  fake.pageSize = 2;
  const values = await mappedValues(evaluator, definition, await readAll(connected()));
  expect(values).toEqual([
    ...[1, 2, 3, 4, 5].map((number) => expect.objectContaining({ externalId: String(number) })),
    ...['70', '71'].map((externalId) => expect.objectContaining({ externalId })),
    { account: '1', group: '70' },
    { account: '2', group: '70' },
    { account: '3', group: '70' },
    expect.objectContaining({ externalId: '72' }),
    { account: '5', group: '72' },
  ]);
  // Members 3, teams 2, members of teams 2 + 1 + 1.
  expect(fake.requests).toHaveLength(9);
});

test('a member and a team become records of the kinds', async () => {
  fake.install(id, {
    members: [{ ...user(1), name: 'Person One' }, user(2)],
    teams: [{ id: 70, slug: 'one', name: 'Team one', description: 'All of it', privacy: 'closed' }],
  });
  expect(await mappedValues(evaluator, definition, await readAll(connected()))).toEqual([
    {
      externalId: '1',
      userName: 'person1',
      displayName: 'Person One',
      isActive: true,
      attributes: { type: 'User' },
    },
    expect.objectContaining({ externalId: '2', displayName: 'person2' }),
    {
      externalId: '70',
      displayName: 'Team one',
      description: 'All of it',
      attributes: { slug: 'one', privacy: 'closed' },
    },
  ]);
});

test('ids keep all their digits, and one that has lost some is named', async () => {
  fake.install(id, { members: [user(1), user(2), user(3)] });
  fake.text = (text) => text.replace('"id":2,', '"id":9007199254740993,').replace('"id":3,', '"id":1.2e+18,');
  const results = await mappedRecords(evaluator, definition, await readAll(connected()));
  expect(results.map((result) => ('error' in result ? 'error' : (result.value as Credential)['externalId']))).toEqual([
    '1',
    '9007199254740993',
    null,
  ]);
});

test('records are passed on as they come: repeated, in any order, and wrong ones, which the run names', async () => {
  fake.install(id, { members: people(2) });
  fake.records = (records, collection) =>
    collection === 'members' ? [...records.toReversed(), ...records, null, { id: 7 }, 'text'] : records;
  const records = await readAll(connected());
  const results = await mappedRecords(evaluator, definition, records);
  expect(results.map((result) => ('error' in result ? 'error' : 'value'))).toEqual([
    ...Array.from({ length: 4 }, () => 'value'),
    ...Array.from({ length: 3 }, () => 'error'),
  ]);
});

test('a team that is deleted while it is read has no members, and the pass continues', async () => {
  const installation = fake.install(id, {
    members: people(1),
    teams: ['one', 'two'].map((slug, index) => ({ id: 70 + index, slug, name: slug })),
    teamMembers: new Map([['two', [user(1)]]]),
  });
  fake.records = (records, collection) => {
    // Not there any more when its members are asked for.
    if (collection === 'teams') installation.teams.shift();
    return records;
  };
  const values = await mappedValues(evaluator, definition, await readAll(connected()));
  expect(values.slice(-2)).toEqual([expect.objectContaining({ externalId: '71' }), { account: '1', group: '71' }]);
});

test('a page that comes again and again ends the pass', async () => {
  fake.install(id, { members: people(300) });
  fake.pageOf = () => 1;
  await expect(readAll(connected())).rejects.toMatchObject({ code: 'invalid_answer' });
  expect(fake.requests).toHaveLength(2);
});

test('the account of a person has no directory', async () => {
  fake.install(id, { account: { login: 'someone', id: 5, type: 'User' } });
  await expect(readAll(connected())).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('Install it for an organization'),
  });
});

test('repositories are listed a page at a time', async () => {
  const repositories = Array.from({ length: 130 }, (_none, index) => ({
    id: index + 1,
    full_name: `org/repository-${index + 1}`,
    private: index % 2 === 0,
    default_branch: 'main',
  }));
  fake.install(id, { repositories });
  const list = (input: object) => inlineRun(definition, 'repositoryList', contexts.context(connected()), { ...input });
  const first = await list({});
  expect(first).toMatchObject({ total: 130, nextPage: 2 });
  expect((first['repositories'] as readonly unknown[])[0]).toEqual({
    id: '1',
    name: 'org/repository-1',
    isPrivate: true,
    isArchived: false,
    defaultBranch: 'main',
  });
  const second = await list({ page: 2 });
  expect(second).toMatchObject({ nextPage: null });
  expect(second['repositories']).toHaveLength(30);
});

test.each(misbehaviours)(
  'a code host that answers with "%s" fails the page once, and a later attempt has it',
  async (one) => {
    fake.install(id, { members: people(1) });
    const credential = connected();
    await expectOneFailedPage(one, fake, contexts, () => readAll(credential));
  },
);

test.each(misbehaviours)('the app asks once for a token, also when the answer is "%s"', async (one) => {
  fake.install(id);
  const context = contexts.context(connected());
  if (one === 'silent') contexts.timeoutMs = 300;
  fake.always = one;
  await expect(connection.refresh?.(contexts.context(context.credential))).rejects.toMatchObject({ isPassing: true });
  expect(fake.requests).toHaveLength(1);
});

test('errors have neither tokens nor keys nor what the code host answered', async () => {
  fake.install(id, { members: people(1) });
  const credential = connected();
  const errors: unknown[] = [];
  const keep = (error: unknown) => errors.push(error);
  fake.endTokens();
  await readAll(credential).catch(keep);
  fake.installations.delete(id);
  await connection.refresh?.(contexts.context(credential)).catch(keep);
  await contexts.set({ codehostapp: { ...fake.settings, appid: '1' } });
  await connection.check(contexts.context(credential)).catch(keep);
  expect(errors).toHaveLength(3);
  expectNone([...fake.secrets, fake.privateKey, 'message of', 'eyJ'], errors);
});
