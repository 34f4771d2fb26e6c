import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Credential } from '#activities/clients/integrations/definition.ts';
import { teamChatIntegration as definition } from '#activities/clients/integrations/teamchat/definition.ts';
import { channelOf } from '#activities/clients/integrations/teamchat/team-message.ts';
import { FakeTeamChat } from '../../kit/fakes/integrations/fake-teamchat.ts';
import { misbehaviours } from '../../kit/fakes/integrations/misbehaviour.ts';
import { callbackUrl, ProviderContexts, signInOf, state } from '../../kit/integrations/provider-contexts.ts';
import { shows } from '../../kit/shows.ts';

const auth = signInOf(definition);
const [connection] = definition.connections;
const person = { tenantId: 'aaaaaaaa-1111-4111-8111-000000000001', id: 'person-1' };

let contexts: ProviderContexts;
let fake: FakeTeamChat;

beforeAll(async () => {
  contexts = await ProviderContexts.open();
});
afterAll(() => contexts.close());

const settings = () => ({ clientid: fake.client.id, clientsecret: fake.client.secret, redirecturl: callbackUrl });

beforeEach(async () => {
  fake = await FakeTeamChat.start(() => contexts.clock.now());
  contexts.urls = fake.urls;
  contexts.timeoutMs = 10_000;
  await contexts.set({ teamchat: settings() });
  return () => fake.close();
});

async function connect(): Promise<Credential> {
  const { url, kept } = await auth.begin(contexts.opening(), { state, callbackUrl });
  const back = fake.approve(url, person).searchParams;
  return auth.finish(contexts.opening(), back, { kept, state, callbackUrl });
}

function send(credential: Credential, input: Readonly<Record<string, unknown>>, userInput = {}) {
  const operation = definition.operations.find(({ name }) => name === 'messageSend');
  if (operation?.policy !== 'inline') throw new Error('there is no operation messageSend');
  return operation.run(contexts.context(credential, userInput), input);
}

async function refreshed(credential: Credential): Promise<Credential> {
  if (!connection.refresh) throw new Error('its credential is never renewed');
  return connection.refresh(contexts.context(credential));
}

test('a person connects a tenant by a sign-in with PKCE', async () => {
  const { url } = await auth.begin(contexts.opening(), { state, callbackUrl });
  const asked = new URL(url);
  expect(asked.pathname).toBe('/organizations/oauth2/v2.0/authorize');
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    client_id: fake.client.id,
    redirect_uri: callbackUrl,
    response_type: 'code',
    code_challenge_method: 'S256',
    scope: 'offline_access ChannelMessage.Send User.Read',
    state,
  });
  const credential = await connect();
  expect(await connection.check(contexts.context(credential))).toEqual({
    id: person.tenantId,
    name: `Tenant ${person.tenantId}`,
  });
  expect(connection.expiresAt?.(credential)).toEqual(new Date(contexts.clock.now().getTime() + 3_600_000));
});

test('settings of the operator decide whether it is offered, how it signs in and where browsers return to', async () => {
  expect([definition.isOffered(contexts.config), definition.callbackUrl?.(contexts.config)]).toEqual([
    true,
    callbackUrl,
  ]);
  await contexts.set({ teamchat: { ...settings(), clientsecret: 'another one' } });
  await expect(connect()).rejects.toMatchObject({ code: 'refused' });
  await contexts.set({});
  expect(definition.isOffered(contexts.config)).toBe(false);
  shows('integrations.teamchat.clientid', 'integrations.teamchat.clientsecret', 'integrations.teamchat.redirecturl');
});

test('a message is sent to the channel of the request, else to that of the installation, as plain text', async () => {
  const credential = await connect();
  const text = '<b>Task</b> is due & late';
  expect(await send(credential, { text, channelUrl: fake.channelUrl })).toEqual({
    messageId: '1700000000001',
    url: fake.channelUrl,
  });
  await send(credential, { text }, { channelUrl: fake.channelUrl });
  expect(fake.posted).toEqual(
    Array.from({ length: 2 }, () => ({ ...fake.channel, by: person.id, contentType: 'text', text })),
  );
  await expect(send(credential, { text })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('No channel is named'),
  });
  expect(fake.posted).toHaveLength(2);
});

test('a channel that is not there is named as such', async () => {
  const credential = await connect();
  const channelUrl = fake.channelUrl.replace('channel-1', 'channel-2');
  await expect(send(credential, { text: 'hello', channelUrl })).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  ['https://teams.microsoft.com/l/message/19%3Aa%40thread.tacv2/1?groupId=aaaaaaaa-0000-4000-8000-000000000001'],
  ['https://teams.microsoft.com/l/channel/19%3Aa%40thread.tacv2/General'],
  ['https://teams.microsoft.com/l/channel/..%2F..%2Fusers/General?groupId=aaaaaaaa-0000-4000-8000-000000000001'],
  ['https://teams.microsoft.com/l/channel/%E0%A4%A/General?groupId=aaaaaaaa-0000-4000-8000-000000000001'],
  ['https://teams.microsoft.com/l/channel/19%3Aa%40thread.tacv2/General?groupId=../../me'],
  ['General'],
  [''],
])('%s is no link to a channel', (link) => {
  expect(channelOf(link)).toBeUndefined();
  expect(definition.problemsOf?.({ channelUrl: link })).toMatchObject([{ path: '/channelUrl' }]);
});

test('the link to a channel names its team and the channel', () => {
  expect(channelOf(fake.channelUrl)).toEqual(fake.channel);
  expect(definition.problemsOf?.({ channelUrl: fake.channelUrl })).toEqual([]);
});

test('a refreshed credential has the new refresh token; the one before it does not work again', async () => {
  const first = await connect();
  const second = await refreshed(first);
  expect(second['refreshToken']).not.toBe(first['refreshToken']);
  const third = await refreshed(second);
  await send(third, { text: 'hello', channelUrl: fake.channelUrl });
  await expect(refreshed(second)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('a provider that fails while a credential is refreshed does not say that the credential is refused', async () => {
  const credential = await connect();
  for (const one of misbehaviours.filter((name) => name !== 'silent')) {
    fake.next.push(one);
    await expect(refreshed(credential), one).rejects.toMatchObject({ name: 'ProviderError', isPassing: true });
  }
  const renewed = await refreshed(credential);
  fake.endRefreshTokens();
  await expect(refreshed(renewed)).rejects.toMatchObject({
    code: 'unauthorized',
    message: expect.stringContaining('Connect the integration again'),
  });
});

test.each([
  ['that somebody else has', { code: 'code-of-somebody-else', state }],
  ['with another state', { code: 'a-code', state: 'another' }],
  ['without a code', { state }],
  ['with an error', { error: 'access_denied', error_description: 'AADSTS65004', state }],
])('an answer %s is refused', async (_what, parameters) => {
  const { kept } = await auth.begin(contexts.opening(), { state, callbackUrl });
  const finish = auth.finish(contexts.opening(), new URLSearchParams(parameters), { kept, state, callbackUrl });
  await expect(finish).rejects.toMatchObject({ name: 'ProviderError' });
});

test('a code works with the verifier of its request only, and once', async () => {
  const one = await auth.begin(contexts.opening(), { state, callbackUrl });
  const other = await auth.begin(contexts.opening(), { state, callbackUrl });
  const back = fake.approve(one.url, person).searchParams;
  const finish = (kept: Readonly<Record<string, string>>) =>
    auth.finish(contexts.opening(), back, { kept, state, callbackUrl });
  await expect(finish(other.kept)).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(finish(one.kept)).rejects.toMatchObject({ code: 'unauthorized' });
});

test.each(misbehaviours)('a chat that answers with "%s" is asked to send the message once', async (one) => {
  const credential = await connect();
  const before = fake.requests.length;
  if (one === 'silent') contexts.timeoutMs = 300;
  fake.next.push(one);
  await expect(send(credential, { text: 'hello', channelUrl: fake.channelUrl })).rejects.toMatchObject({
    name: 'ProviderError',
    isPassing: true,
  });
  expect(fake.requests).toHaveLength(before + 1);
});
