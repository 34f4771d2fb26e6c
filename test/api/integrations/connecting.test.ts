import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { localSignIn } from '#activities/clients/integrations/oidclocal/local-sign-in.ts';
import { ProviderAccess } from '#activities/clients/integrations/provider-access.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { FakeChatWorkspaces } from '../../kit/fakes/integrations/fake-chat-workspace.ts';
import { FakeCodeHost } from '../../kit/fakes/integrations/fake-codehostapp.ts';
import { come, LocalConnections } from '../../kit/integrations/local-connection.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';

const consoleUrl = 'CORE_ORMCONFIG_NOTIFICATIONS_CONSOLEURL';
const consolePath = 'CORE_INTEGRATIONS_CONSOLEINTEGRATIONPATH';

let local: LocalConnections;
let chat: FakeChatWorkspaces;
let codeHost: FakeCodeHost;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  chat = await FakeChatWorkspaces.start();
  codeHost = await FakeCodeHost.start();
  chat.addWorkspace('T1');
  local = await LocalConnections.open({
    environment: {
      CORE_INTEGRATIONS_CHAT_CLIENTID: chat.client.id,
      CORE_INTEGRATIONS_CHAT_CLIENTSECRET: chat.client.secret,
      CORE_INTEGRATIONS_CHAT_REDIRECTURL: 'https://api.test/v1/integrations/auth/callback',
    },
    integrations: { urls: { ...chat.urls, ...codeHost.urls } },
  });
  owner = await buildPerson(local.world);
  client = await signedIn(local.world, owner);
});
afterEach(() => {
  local.fake.reset();
  chat.always = undefined;
  chat.next.length = 0;
});
afterAll(async () => {
  await local.close();
  await chat.close();
  await codeHost.close();
});

/** Rows of integrations and credentials, deleted or not. */
async function rows(): Promise<unknown> {
  const [row] = await asOwner(
    local.world,
    'select (select count(*)::int from integrations) as integrations, (select count(*)::int from secrets) as secrets',
  );
  return row;
}

const configure = (definitionId: string, input: object) =>
  client.post(`/v1/integrations/${definitionId}/config`, input);

const start = (input: object) => client.post('/v1/integrations/auth/start', input);

const paths = (body: { errors?: readonly { path: string }[] }) => body.errors?.map(({ path }) => path);

describe('the browser returns', () => {
  const hostile = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'ftp' };

  test('T-26: to the page of the definition in the user interface, whatever the browser says', async () => {
    for (const [url, path, target] of [
      ['https://console.example', undefined, 'https://console.example/organization-settings/integrations/oidclocal'],
      ['https://console.example/app/', '/connected/', 'https://console.example/app/connected/oidclocal'],
      ['https://console.example', 'x', 'https://console.example/x/oidclocal'],
    ] as const) {
      await local.world.reconfigure({ [consoleUrl]: url, [consolePath]: path });
      const begun = await local.begin(client);
      expect(new URL(begun.authUrl).searchParams.get('redirect_uri')).toMatch(/^https:\/\/api\.test\//);
      const back = local.approve(begun);
      for (const name of ['redirect_uri', 'target', 'return_to', 'next'])
        back.searchParams.set(name, 'https://evil.example');
      const { status, headers } = await client.get(back.pathname + back.search, hostile);
      expect({ status, location: headers['location'] }).toEqual({ status: 302, location: target });
      expect(headers['cache-control']).toBe('no-store');
    }
    await local.world.reconfigure({ [consoleUrl]: undefined, [consolePath]: undefined });
    shows('integrations.consoleintegrationpath');
  });

  test('to a page of this server while there is no user interface', async () => {
    const { answer } = await local.connect(client);
    expect(answer.headers['location']).toBe('https://api.test/v1/integrations/connected');
    const page = await client.get('/v1/integrations/connected', { accept: 'text/html' });
    expect({ status: page.status, type: page.headers['content-type'] }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    });
  });

  test('to a page that says what is wrong, for people', async () => {
    const begun = await local.begin(client);
    const back = local.approve(begun);
    back.searchParams.set('state', 'other');
    const { status, headers, body } = await client.get(back.pathname + back.search, { accept: 'text/html' });
    expect({ status, type: headers['content-type'] }).toEqual({ status: 401, type: 'text/html; charset=utf-8' });
    expect(body).toContain('Begin again');
    expect(body).not.toContain(back.searchParams.get('code'));
  });
});

describe('a connection that a sign-in makes', () => {
  test('waits for a week, and is connected by the person who began it', async () => {
    const begun = await local.begin(client);
    const { body: waiting } = await client.get(`/v1/integrations/${begun.id}`);
    expect(waiting).toMatchObject({ status: 'pending', responsible_id: owner.user.id, account_id: null });
    expect(Date.parse(waiting.expires_at)).toBe(Date.parse(waiting.created_at) + 168 * 3_600_000);
    expect((await come(client, local.approve(begun))).status).toBe(302);
    const { body } = await client.get(`/v1/integrations/${begun.id}`);
    expect(body).toMatchObject({ status: 'connected', expires_at: null, account_id: local.fake.url });
    expect(await local.stored(begun.id)).toEqual({ status: 'connected', credentials: 1 });
  });

  test('is begun again with the one that waits, which then waits for another week', async () => {
    const first = await local.begin(client, { name: 'Abandoned' });
    local.world.clock.advance(60_000);
    const second = await local.begin(client, { name: 'Abandoned' });
    expect(second.id).toBe(first.id);
    const { body } = await client.get(`/v1/integrations/${first.id}`);
    expect(Date.parse(body.expires_at)).toBe(local.world.clock.now().getTime() + 168 * 3_600_000);
    await local.begin(client, { integration_id: first.id, name: 'With a new name' });
    expect((await client.get(`/v1/integrations/${first.id}`)).body.name).toBe('With a new name');
  });

  test('leaves nothing while the other system does not answer', async () => {
    const url = 'CORE_INTEGRATIONS_OIDCLOCAL_DISCOVERYURL';
    await local.world.reconfigure({ [url]: 'http://127.0.0.1:9' });
    try {
      const input = { definition_id: 'oidclocal', name: 'Away' };
      expectProblem(await client.post('/v1/integrations/auth/start', input), 'integration_unavailable');
    } finally {
      await local.world.reconfigure({ [url]: local.fake.url });
    }
    const { data } = (await client.get('/v1/integrations?name[eq]=Away')).body;
    expect(data).toEqual([]);
  });

  test('is made again for the same integration, whose credential is replaced', async () => {
    const { id } = await local.connect(client);
    const { answer } = await local.connect(client, { integration_id: id });
    expect(answer.status).toBe(302);
    expect(await local.stored(id)).toEqual({ status: 'connected', credentials: 1 });
  });

  test('is not saved when the health check fails', async () => {
    const begun = await local.begin(client);
    let asked = 0;
    local.fake.instead.set('/userinfo', (response) => {
      // Once for the claims, and once for the check.
      if (++asked === 1) response.writeHead(200, { 'content-type': 'application/json' }).end('{"sub":"person-1"}');
      else response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
    });
    expectProblem(await come(client, local.approve(begun)), 'integration_refused');
    expect(asked).toBe(2);
    expect(await local.stored(begun.id)).toEqual({ status: 'pending', credentials: 0 });
  });

  test.each([
    ['a web page', 200, { 'content-type': 'text/html' }],
    ['a redirect', 302, { location: 'https://evil.example/' }],
    ['a redirect to a private address', 302, { location: 'http://169.254.169.254/latest/meta-data' }],
  ] as const)(
    'is not begun with %s in the place of an answer, which is not followed',
    async (name, status, headers) => {
      const { fake } = local;
      fake.instead.set('/.well-known/openid-configuration', (response) =>
        response.writeHead(status, headers).end('<p>'),
      );
      const asked = fake.asked.length;
      expectProblem(await start({ definition_id: 'oidclocal', name }), 'integration_refused');
      expect(fake.asked).toHaveLength(asked + 1);
    },
  );

  test('asks no private address, except on a development server', async () => {
    const { world, fake } = local;
    const { server, integrations, ...others } = world.config.current;
    const discoveryurl = fake.url.replace('http:', 'https:');
    const oidclocal = { ...integrations.oidclocal, discoveryurl };
    const access = new ProviderAccess({
      config: {
        current: { ...others, server: { ...server, dev: false }, integrations: { ...integrations, oidclocal } },
      },
      database: world.runtime.database,
    });
    const asked = fake.asked.length;
    const begin = localSignIn.begin(access.opening({}), { state: 'state', callbackUrl: 'https://api.test/' });
    await expect(begin).rejects.toMatchObject({
      name: 'ProviderError',
      code: 'unavailable',
      message: expect.stringContaining('must not be asked'),
    });
    expect(fake.asked).toHaveLength(asked);
  });
});

describe('a request that connects is refused, and nothing is saved', () => {
  const token = 'xoxb-0000000000-example';

  test.each<[string, object, string[]]>([
    ['an unknown field of the credential', { body: { accessToken: token, more: 1 } }, ['/body/more']],
    ['a credential without its token', { body: {} }, ['/body/accessToken']],
    ['a token of another form', { body: { accessToken: 'xoxp-planted-value' } }, ['/body/accessToken']],
    ['a credential that is no object', { body: 'planted-value' }, ['/body']],
    ['no credential', {}, ['/body']],
    [
      'unknown settings',
      { body: { accessToken: token }, user_input: { chanel: 'C0123456789' } },
      ['/user_input/chanel'],
    ],
    [
      'settings of another type',
      { body: { accessToken: token }, user_input: { includeGuestUsers: 'yes' } },
      ['/user_input/includeGuestUsers'],
    ],
    [
      'a filter that is none',
      { body: { accessToken: token }, user_input: { filterExpr: 'payload.' } },
      ['/user_input/filterExpr'],
    ],
    [
      'an operation that cannot be off',
      { body: { accessToken: token }, user_input: { disabledOperations: ['messageSend'] } },
      ['/user_input/disabledOperations/0'],
    ],
  ])('%s', async (_name, input, expected) => {
    const before = [await rows(), chat.requests.length];
    const answer = await configure('chat', { credential_ref: 'botToken', ...input });
    expectProblem(answer, 'invalid_input');
    expect(paths(answer.body)).toEqual(expected);
    expect(JSON.stringify(answer.body)).not.toContain('planted-value');
    expect([await rows(), chat.requests.length]).toEqual(before);
  });

  test('unknown fields, definitions and credentials, and ways that the definition does not have', async () => {
    const before = await rows();
    expectProblem(await configure('chat', { credential: {} }), 'invalid_input');
    expectProblem(await start({ definition_id: 'oidclocal', redirect_uri: 'https://evil.example' }), 'invalid_input');
    expectProblem(await configure('nothing', {}), 'not_found');
    // Its settings do not offer it.
    expectProblem(await configure('teamchat', {}), 'not_found');
    expectProblem(await configure('chat', { credential_ref: 'nothing', body: {} }), 'not_found');
    const entered = await start({ definition_id: 'chat', credential_ref: 'botToken' });
    expectProblem(entered, 'invalid_input');
    expect(paths(entered.body)).toEqual(['/credential_ref']);
    const pushed = await start({ definition_id: 'scim' });
    expect(paths(pushed.body)).toEqual(['/definition_id']);
    expect(pushed.body.detail).toContain('POST /v1/integrations/scim/config');
    // GraphQL has other names for the fields, and the same ones in what the definition describes.
    const named = await client.graphql(
      'mutation { configureIntegration(definitionId: "scim", userInput: { roleGroup: 1 }) { healthStatus } }',
    );
    expect(named.errors[0].extensions.errors[0].path).toBe('/userInput/roleGroup');
    const signIn = await configure('oidclocal', { body: { accessToken: 'x' } });
    expect(paths(signIn.body)).toEqual(['/body']);
    expect(await rows()).toEqual(before);
  });

  test.each([
    ['fail', 'integration_unavailable'],
    ['limit', 'integration_unavailable'],
    ['cut', 'integration_unavailable'],
    ['page', 'integration_refused'],
    ['redirect', 'integration_refused'],
  ] as const)('when the other system answers the check with "%s"', async (misbehaviour, code) => {
    chat.always = misbehaviour;
    const before = await rows();
    const answer = await configure('chat', { credential_ref: 'botToken', body: { accessToken: token } });
    expectProblem(answer, code);
    expect(answer.body.detail).not.toContain('by itself');
    expect(JSON.stringify(answer.body)).not.toContain(token);
    expect(await rows()).toEqual(before);
  });

  test('when the other system refuses the credential; a replaced one stays as it was', async () => {
    const before = await rows();
    expectProblem(
      await configure('chat', { credential_ref: 'botToken', body: { accessToken: token } }),
      'integration_refused',
    );
    expect(await rows()).toEqual(before);
    const good = { credential_ref: 'botToken', body: { accessToken: chat.tokenOf('T1') } };
    const { status, body } = await configure('chat', { ...good, name: 'workspace' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { health_status: 'ok', health_summary: 'Workspace T1' },
    });
    const held = await asOwner(local.world, 'select * from secrets where integration_id = $1', [body.id]);
    const again = { integration_id: body.id, user_input: { channel: 'C0123456789' } };
    expectProblem(await configure('chat', { ...good, ...again, body: { accessToken: token } }), 'integration_refused');
    expect(await asOwner(local.world, 'select * from secrets where integration_id = $1', [body.id])).toEqual(held);
    expect((await client.get(`/v1/integrations/${body.id}`)).body).toMatchObject({ user_input: {} });
  });

  test('by managers alone', async () => {
    const before = await rows();
    const person = await buildPerson(local.world, { organization: owner.organization, role: 'member' });
    const member = await signedIn(local.world, person);
    expectProblem(await member.post('/v1/integrations/scim/config', {}), 'permission_denied');
    expectProblem(
      await member.post('/v1/integrations/auth/start', { definition_id: 'oidclocal' }),
      'permission_denied',
    );
    expect(await rows()).toEqual(before);
  });

  test('while the key of the app is none', async () => {
    const { world } = local;
    const settings = (privatekey: string) => ({
      CORE_INTEGRATIONS_CODEHOSTAPP_APPID: '1',
      CORE_INTEGRATIONS_CODEHOSTAPP_APPSLUG: 'app',
      CORE_INTEGRATIONS_CODEHOSTAPP_PRIVATEKEY: privatekey,
    });
    const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    for (const pem of [
      '-----BEGIN PRIVATE KEY-----\nplanted-value\n-----END PRIVATE KEY-----',
      elliptic.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ]) {
      await world.reconfigure(settings(pem));
      const { body } = await start({ definition_id: 'codehostapp', name: `code host ${pem.length}` });
      const state = new URL(body.auth_url).searchParams.get('state');
      const asked = codeHost.requests.length;
      const answer = await client.get(
        `/v1/integrations/auth/callback?installation_id=1&code=${pem.length}&state=${state}`,
      );
      expectProblem(answer, 'integration_refused');
      expect(JSON.stringify(answer.body)).not.toContain('planted-value');
      expect(codeHost.requests).toHaveLength(asked);
      expect(await local.stored(body.id)).toEqual({ status: 'pending', credentials: 0 });
    }
    await world.reconfigure({
      CORE_INTEGRATIONS_CODEHOSTAPP_APPID: undefined,
      CORE_INTEGRATIONS_CODEHOSTAPP_APPSLUG: undefined,
      CORE_INTEGRATIONS_CODEHOSTAPP_PRIVATEKEY: undefined,
    });
  });
});
