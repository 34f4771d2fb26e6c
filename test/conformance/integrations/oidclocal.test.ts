import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Credential } from '#activities/clients/integrations/definition.ts';
import { oidcLocalIntegration as definition } from '#activities/clients/integrations/oidclocal/definition.ts';
import { openEvaluator } from '../../activities/cel/opened-evaluator.ts';
import { FakeIdentityProvider, type FakePerson } from '../../kit/fakes/fake-identity-provider.ts';
import { startCertifiedProvider, type CertifiedProvider } from '../../kit/identity/certified-provider.ts';
import { mappedValues } from '../../kit/integrations/mapped-records.ts';
import { callbackUrl, ProviderContexts, signInOf, state } from '../../kit/integrations/provider-contexts.ts';
import { shows } from '../../kit/shows.ts';

const evaluator = openEvaluator();
const auth = signInOf(definition);
const [connection] = definition.connections;
const person: FakePerson = { sub: 'person-1', email: 'person@example.com', email_verified: true, name: 'A Person' };

let contexts: ProviderContexts;
let certified: CertifiedProvider;
let fake: FakeIdentityProvider;

beforeAll(async () => {
  contexts = await ProviderContexts.open();
  certified = await startCertifiedProvider([callbackUrl]);
  fake = await FakeIdentityProvider.start(() => contexts.clock.now());
});
afterAll(async () => {
  await certified.close();
  await fake.close();
  await contexts.close();
});
beforeEach(() => fake.reset());

const use = ({ url, client }: Pick<CertifiedProvider, 'url' | 'client'>, more = {}) =>
  contexts.set({
    oidclocal: {
      enabled: true,
      clientid: client.id,
      clientsecret: client.secret,
      discoveryurl: url,
      redirecturl: callbackUrl,
      ...more,
    },
  });

const begin = () => auth.begin(contexts.opening(), { state, callbackUrl });

async function connect(browse: (url: string) => Promise<URL> | URL): Promise<Credential> {
  const { url, kept } = await begin();
  const back = await browse(url);
  return auth.finish(contexts.opening(), back.searchParams, { kept, state, callbackUrl });
}

function operation(name: 'claimsInspect' | 'directorySync') {
  const found = definition.operations.find((one) => one.name === name);
  if (!found) throw new Error(`there is no operation ${name}`);
  return found;
}

async function directoryOf(credential: Credential): Promise<unknown[]> {
  const sync = operation('directorySync');
  if (sync.policy !== 'run') throw new Error('directorySync does not run');
  const { records, next } = await sync.readPage(contexts.context(credential), {});
  expect(next).toBeUndefined();
  return mappedValues(evaluator, definition, records);
}

test('a person signs in at a certified provider, and their claims and account come in', async () => {
  await use(certified);
  const credential = await connect((url) => certified.browse(url));
  expect(await connection.check(contexts.context(credential))).toEqual({
    id: certified.url,
    name: new URL(certified.url).host,
  });
  const inspect = operation('claimsInspect');
  if (inspect.policy !== 'inline') throw new Error('claimsInspect does not answer');
  expect(await inspect.run(contexts.context(credential), {})).toMatchObject({
    claims: { ...certified.claims, iss: certified.url, aud: certified.client.id },
  });
  expect(await directoryOf(credential)).toEqual([
    {
      externalId: 'person-1',
      userName: null,
      email: 'person@example.com',
      displayName: 'A Person',
      givenName: null,
      familyName: null,
      isActive: true,
    },
  ]);
});

test('an address that the provider has not verified does not come in', async () => {
  await use(fake);
  const credential = await connect((url) => fake.approve(url, { ...person, email_verified: false }));
  expect(await directoryOf(credential)).toMatchObject([{ externalId: 'person-1', email: null }]);
});

test('settings of the operator decide whether it is offered, where people sign in and where browsers return to', async () => {
  await use(certified);
  expect([definition.isOffered(contexts.config), definition.callbackUrl?.(contexts.config)]).toEqual([
    true,
    callbackUrl,
  ]);
  expect(new URL((await begin()).url).origin).toBe(certified.url);
  await use(certified, { clientid: 'another-app' });
  expect(new URL((await begin()).url).searchParams.get('client_id')).toBe('another-app');
  await use(certified, { clientsecret: 'another-secret' });
  await expect(connect((url) => certified.browse(url))).rejects.toMatchObject({ code: 'refused' });
  await use(fake);
  expect(new URL((await begin()).url).origin).toBe(fake.url);
  await contexts.set({});
  expect(definition.isOffered(contexts.config)).toBe(false);
  shows(
    'integrations.oidclocal.enabled',
    'integrations.oidclocal.clientid',
    'integrations.oidclocal.clientsecret',
    'integrations.oidclocal.discoveryurl',
    'integrations.oidclocal.redirecturl',
  );
});

test.each([
  ['iss', 'https://another.example'],
  ['aud', 'another-app'],
  ['nonce', 'another-nonce'],
  ['exp', 1],
  ['iat', 1],
  ['iat', 99_999_999_999],
])('an id token with a wrong %s (%s) is refused', async (claim, value) => {
  await use(fake);
  fake.claims = (claims) => ({ ...claims, [claim]: value });
  await expect(connect((url) => fake.approve(url, person))).rejects.toMatchObject({ code: 'invalid_answer' });
});

test('a code works with the verifier of its request only', async () => {
  await use(fake);
  const [one, other] = [await begin(), await begin()];
  const back = fake.approve(one.url, person).searchParams;
  await expect(auth.finish(contexts.opening(), back, { kept: other.kept, state, callbackUrl })).rejects.toMatchObject({
    name: 'ProviderError',
  });
});

test('the claims of another person at the address for claims are refused', async () => {
  await use(fake);
  fake.instead.set('/userinfo', (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...person, sub: 'person-2' }));
  });
  await expect(connect((url) => fake.approve(url, person))).rejects.toMatchObject({ code: 'invalid_answer' });
});

test('claims of a megabyte are refused', async () => {
  await use(fake);
  const credential = connect((url) => fake.approve(url, { ...person, name: 'x'.repeat(1_000_000) }));
  await expect(credential).rejects.toMatchObject({
    code: 'invalid_answer',
    message: expect.stringContaining('32768 bytes'),
  });
});

test('an access token that has ended does not fail the health check; a provider that is not there does', async () => {
  await use(fake);
  const credential = await connect((url) => fake.approve(url, person));
  fake.instead.set('/userinfo', (response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' });
    response.end();
  });
  const check = (expiresAt: Date) =>
    connection.check(contexts.context({ ...credential, expiresAt: expiresAt.toISOString() }));
  await expect(check(new Date(contexts.clock.now().getTime() + 60_000))).rejects.toMatchObject({
    code: 'unauthorized',
  });
  expect(await check(contexts.clock.now())).toMatchObject({ id: fake.url });
  await use({ url: 'http://127.0.0.1:1', client: fake.client });
  await expect(check(contexts.clock.now())).rejects.toMatchObject({ code: 'unavailable' });
});

test('a web page in place of the metadata is refused without a further request', async () => {
  await use(fake);
  fake.instead.set('/.well-known/openid-configuration', (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html>Welcome</html>');
  });
  const before = fake.asked.length;
  await expect(begin()).rejects.toMatchObject({ code: 'invalid_answer' });
  expect(fake.asked).toHaveLength(before + 1);
});
