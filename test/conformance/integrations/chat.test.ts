import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Value } from 'typebox/value';
import { chatIntegration as definition } from '#activities/clients/integrations/chat/definition.ts';
import type { Credential } from '#activities/clients/integrations/definition.ts';
import { openEvaluator } from '../../activities/cel/opened-evaluator.ts';
import { FakeChatWorkspaces, type FakeMember } from '../../kit/fakes/integrations/fake-chat-workspace.ts';
import { misbehaviours } from '../../kit/fakes/integrations/misbehaviour.ts';
import { mappedRecords, mappedValues } from '../../kit/integrations/mapped-records.ts';
import { expectOneFailedPage } from '../../kit/integrations/failed-page.ts';
import { callbackUrl, ProviderContexts, signInOf, state } from '../../kit/integrations/provider-contexts.ts';
import { expectNone, inlineRun, wholePass } from '../../kit/integrations/whole-pass.ts';
import { shows } from '../../kit/shows.ts';

const evaluator = openEvaluator();
const auth = signInOf(definition);
const [connection, byToken] = definition.connections;
const id = 'T0123456789';

let contexts: ProviderContexts;
let fake: FakeChatWorkspaces;

beforeAll(async () => {
  contexts = await ProviderContexts.open();
});
afterAll(() => contexts.close());

const settings = () => ({
  clientid: fake.client.id,
  clientsecret: fake.client.secret,
  redirecturl: callbackUrl,
  appid: fake.appId,
});

beforeEach(async () => {
  fake = await FakeChatWorkspaces.start(() => contexts.clock.now());
  contexts.urls = fake.urls;
  contexts.timeoutMs = 10_000;
  await contexts.set({ chat: settings() });
  return () => fake.close();
});

function member(number: number, values: Partial<FakeMember> = {}): FakeMember {
  return {
    id: `U000000000${number}`,
    name: `person${number}`,
    deleted: false,
    is_bot: false,
    is_email_confirmed: true,
    profile: { email: `person${number}@example.com`, real_name: `Person ${number}`, first_name: 'Person' },
    ...values,
  };
}

const people = (count: number) => Array.from({ length: count }, (_none, index) => member(index + 1));

async function connect(workspaceId: string): Promise<Credential> {
  const context = contexts.opening();
  const { url, kept } = await auth.begin(context, { state, callbackUrl });
  const back = fake.approve(url, workspaceId);
  expect(back.searchParams.get('state')).toBe(state);
  return auth.finish(context, back.searchParams, { kept, state, callbackUrl });
}

const connected = (): Credential => ({ accessToken: fake.tokenOf(id) });

const readAll = (credential: Credential, userInput = {}) =>
  wholePass(definition, () => contexts.context(credential, userInput));

const send = (credential: Credential, input: Readonly<Record<string, unknown>>, userInput = {}) =>
  inlineRun(definition, 'messageSend', contexts.context(credential, userInput), input);

test('a member lets the app in, and the health check names the workspace', async () => {
  fake.addWorkspace(id, { name: 'Example Inc.' });
  const credential = await connect(id);
  expect(await connection.check(contexts.context(credential))).toEqual({ id, name: 'Example Inc.' });
  expect(connection.expiresAt?.(credential)).toBeUndefined();
});

test('settings of the operator decide whether it is offered, where browsers return to, and which app it is', async () => {
  fake.addWorkspace(id);
  expect([definition.isOffered(contexts.config), definition.callbackUrl?.(contexts.config)]).toEqual([
    true,
    callbackUrl,
  ]);
  const problems = { clientsecret: 'another one', appid: 'A0000000000' };
  for (const [name, value] of Object.entries(problems)) {
    await contexts.set({ chat: { ...settings(), [name]: value } });
    await expect(connect(id)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('Report it to those who operate the server'),
    });
  }
  await contexts.set({ chat: { ...settings(), appid: '' } });
  expect(await connect(id)).toHaveProperty('accessToken');
  await contexts.set({});
  expect(definition.isOffered(contexts.config)).toBe(false);
  shows(
    'integrations.chat.clientid',
    'integrations.chat.clientsecret',
    'integrations.chat.redirecturl',
    'integrations.chat.appid',
  );
});

test('a code is bound to the URL to which the browser returns, and works once', async () => {
  fake.addWorkspace(id);
  const { url, kept } = await auth.begin(contexts.opening(), { state, callbackUrl });
  const back = fake.approve(url, id).searchParams;
  const finish = (to: string) => auth.finish(contexts.opening(), back, { kept, state, callbackUrl: to });
  await expect(finish('https://attacker.example/')).rejects.toMatchObject({ code: 'refused' });
  await expect(finish(callbackUrl)).rejects.toMatchObject({ code: 'refused' });
});

test.each([
  ['with an error', { error: 'access_denied' }],
  ['without a code', {}],
])('a callback %s ends the sign-in before anything is asked', async (_what, answer) => {
  const finish = auth.finish(contexts.opening(), new URLSearchParams(answer), { kept: {}, state, callbackUrl });
  await expect(finish).rejects.toMatchObject({ code: 'refused' });
  expect(fake.requests).toEqual([]);
});

test('a bot token that a person enters connects its workspace', async () => {
  fake.addWorkspace(id);
  const credential = connected();
  expect(byToken?.credential && Value.Check(byToken.credential, credential)).toBe(true);
  expect(byToken?.credential && Value.Check(byToken.credential, { accessToken: 'xoxp-of-a-person' })).toBe(false);
  expect(await byToken?.check(contexts.context(credential))).toMatchObject({ id });
  await expect(byToken?.check(contexts.context({ accessToken: 'xoxb-unknown-token' }))).rejects.toMatchObject({
    code: 'unauthorized',
  });
});

test('a workspace that rotates tokens gives a new refresh token with each access token', async () => {
  fake.addWorkspace(id, { members: people(1) });
  fake.rotates = true;
  const first = await connect(id);
  expect(connection.expiresAt?.(first)).toEqual(new Date(contexts.clock.now().getTime() + 43_200_000));
  contexts.clock.advance(43_200_000);
  await expect(readAll(first)).rejects.toMatchObject({ code: 'unauthorized' });
  const second = await connection.refresh?.(contexts.context(first));
  expect(await readAll(second ?? {})).toHaveLength(1);
  await expect(connection.refresh?.(contexts.context(first))).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await connection.refresh?.(contexts.context(second ?? {}))).toHaveProperty('refreshToken');
});

test('disconnecting ends the token, also if it has ended already', async () => {
  fake.addWorkspace(id);
  const context = contexts.context(connected());
  await connection.revoke?.(context);
  await expect(connection.check(context)).rejects.toMatchObject({ code: 'unauthorized' });
  await connection.revoke?.(context);
});

test('a message is sent once, as text that mentions nobody', async () => {
  fake.addWorkspace(id);
  const sent = await send(connected(), { text: '<!channel> a & b', channel: 'C0000000001' });
  expect(sent).toEqual({ messageId: '1700000000.000001', channel: 'C0000000001' });
  expect(fake.posted).toEqual([{ channel: 'C0000000001', text: '&lt;!channel&gt; a &amp; b' }]);
  await send(connected(), { text: 'to the usual channel' }, { channel: 'C0000000001' });
  expect(fake.posted).toHaveLength(2);
});

test('a message without a channel, or to an unknown one, says what to do', async () => {
  fake.addWorkspace(id);
  await expect(send(connected(), { text: 'x' })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('No channel is named'),
  });
  await expect(send(connected(), { text: 'x', channel: 'C9999999999' })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('Invite the app to the channel'),
  });
});

test('a pass brings in the people of the workspace, one request for each page', async () => {
  fake.addWorkspace(id, {
    members: [
      ...people(3),
      member(4, { is_bot: true }),
      member(5, { id: 'USLACKBOT' }),
      member(6, { is_restricted: true }),
      // The type of the library does not know it.
      { ...member(7), is_stranger: true } as FakeMember,
    ],
  });
  fake.pageSize = 2;
  const idsOf = async (userInput = {}) =>
    (await readAll(connected(), userInput)).map(({ payload }) => (payload as FakeMember).id);
  expect(await idsOf()).toEqual(people(3).map((one) => one.id));
  expect(fake.requests).toHaveLength(4);
  expect(await idsOf({ includeGuestUsers: true })).toEqual([...people(3), member(6)].map((one) => one.id));
});

test('a person becomes an account', async () => {
  fake.addWorkspace(id, { members: [member(1, { deleted: true }), { id: 'U9', deleted: false }] });
  expect(await mappedValues(evaluator, definition, await readAll(connected()))).toEqual([
    {
      externalId: 'U0000000001',
      userName: 'person1',
      email: 'person1@example.com',
      displayName: 'Person 1',
      givenName: 'Person',
      familyName: null,
      isActive: false,
      attributes: { title: null },
    },
    expect.objectContaining({ externalId: 'U9', email: null, isActive: true }),
  ]);
});

test('an address that nobody has confirmed is none', async () => {
  fake.addWorkspace(id, { members: [member(1, { is_email_confirmed: false })] });
  const [account] = await mappedValues(evaluator, definition, await readAll(connected()));
  expect(account).toMatchObject({ email: null });
});

test('records are passed on as they come: repeated, in any order, and wrong ones, which the run names', async () => {
  fake.addWorkspace(id, { members: people(2) });
  fake.members = (members) => [...members.toReversed(), ...members, null, { id: 'U9' }, { id: 1.2e18, deleted: false }];
  const results = await mappedRecords(evaluator, definition, await readAll(connected()));
  expect(results.map((result) => ('error' in result ? 'error' : (result.value as Credential)['externalId']))).toEqual([
    ...[2, 1, 1, 2].map((number) => member(number).id),
    'error',
    'error',
    // As it is written.
    '1200000000000000000',
  ]);
});

test.each([
  ['the position of the page itself', (cursor: string) => (cursor === '' ? 'at:2' : cursor)],
  ['a position that is no text', () => ({ cursor: 1 })],
  ['a position of a megabyte', () => 'x'.repeat(1_000_000)],
])('a page that names %s as the next one ends the pass', async (_what, lie: (cursor: string) => unknown) => {
  fake.addWorkspace(id, { members: people(3) });
  fake.pageSize = 2;
  fake.nextCursor = lie;
  await expect(readAll(connected())).rejects.toMatchObject({ code: 'invalid_answer' });
});

test('a position that is not valid any more begins the pass again', async () => {
  fake.addWorkspace(id, { members: people(3) });
  fake.pageSize = 2;
  fake.nextCursor = () => 'dGVhbTpDMDYxRkE1UEI=';
  await expect(readAll(connected())).rejects.toMatchObject({ code: 'cursor_expired' });
});

test.each([
  ['ratelimited', 'rate_limited'],
  ['fatal_error', 'unavailable'],
  ['missing_scope', 'forbidden'],
  ['account_inactive', 'unauthorized'],
  ['something_new', 'refused'],
  ['Secret <xoxb-1>', 'refused'],
])('the error %s of a method is %s', async (error, code) => {
  fake.addWorkspace(id);
  fake.nextError = error;
  await expect(readAll(connected())).rejects.toMatchObject({ code, message: expect.not.stringContaining('xoxb') });
  expect(fake.requests).toHaveLength(1);
});

test.each(misbehaviours)(
  'a chat that answers with "%s" fails the page once, and a later attempt has it',
  async (one) => {
    fake.addWorkspace(id, { members: people(1) });
    const credential = connected();
    await expectOneFailedPage(one, fake, contexts, () => readAll(credential));
  },
);

test.each(misbehaviours)('a message is asked for once, also when the answer is "%s"', async (one) => {
  fake.addWorkspace(id);
  const credential = connected();
  if (one === 'silent') contexts.timeoutMs = 300;
  fake.always = one;
  await expect(send(credential, { text: 'x', channel: 'C0000000001' })).rejects.toMatchObject({ isPassing: true });
  expect(fake.requests).toHaveLength(1);
});

test('errors have neither tokens nor secrets nor what the chat answered', async () => {
  fake.addWorkspace(id);
  const credential = connected();
  const errors: unknown[] = [];
  const keep = (error: unknown) => errors.push(error);
  fake.nextError = 'missing_scope';
  await readAll(credential).catch(keep);
  fake.endTokens();
  await readAll(credential).catch(keep);
  await contexts.set({ chat: { ...settings(), clientsecret: 'another-secret' } });
  await connect(id).catch(keep);
  expect(errors).toHaveLength(3);
  expectNone([...fake.secrets, fake.client.secret, 'another-secret', 'of the answer', 'of-the-answer'], errors);
});
