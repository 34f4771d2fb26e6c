import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaves, valueAt } from '#config/objects/leaf.ts';
import { Sandbox } from './configuration-folder.ts';
import { showsWithinConfig } from '../kit/shows.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.make();
});
afterAll(() => sandbox.remove());

const environment = {
  CORE_SERVER_DEV: 'true',
  CORE_AUTH_TOKEN_KID: 'key-1',
  CORE_AUTHZ_HOSTURL: 'http://127.0.0.1:8080',
  CORE_DB_PRIMARYDBSOURCE: 'postgres://core@127.0.0.1/core',
};

/** What every field inherits from the domain d.example. */
const inherited: Readonly<Record<string, unknown>> = {
  'server.cors.alloworigins': ['https://console.d.example', 'https://docs.d.example', 'https://www.d.example'],
  'ormconfig.notifications.consoleurl': 'https://console.d.example',
  'auth.token.audience': 'https://api.d.example',
  'auth.token.refreshaudience': 'https://api.d.example',
  'auth.token.issuer': 'https://api.d.example',
  'auth.token.jwksendpoint': 'https://api.d.example/.well-known/jwks.json',
  'auth.providers.redirecturl': 'https://console.d.example/login/sso',
  'auth.providers.codehost.clientendpoint': 'https://api.d.example',
  'auth.providers.identity.clientendpoint': 'https://api.d.example',
  'auth.providers.webauthn.relyingpartyid': 'd.example',
  'auth.providers.webauthn.requestorigins': ['https://console.d.example'],
  'sessions.domain': 'd.example',
  'totp.issuer': 'd.example',
  'objectstorage.providers.bucketstore.baseurl': 'https://api.d.example/v1/files',
  'objectstorage.providers.edgestore.baseurl': 'https://api.d.example/v1/files',
  'objectstorage.providers.cloudstore.baseurl': 'https://api.d.example/v1/files',
  'objectstorage.providers.disk.baseurl': 'https://api.d.example/v1/files',
  'objectstorage.providers.database.baseurl': 'https://api.d.example/v1/files',
  'subscription.paymentwebhookurl': 'https://api.d.example/v1/payment/webhook',
  'subscription.paymentbillingportalsuccessurl': 'https://console.d.example/organization-settings/billing',
  'subscription.paymentcancellationreturnurl': 'https://console.d.example/organization-settings/billing',
  'integrations.chat.redirecturl': 'https://api.d.example/v1/integrations/auth/callback',
  'integrations.clouddrive.redirecturl': 'https://api.d.example/v1/integrations/auth/callback',
  'integrations.officesuite.redirecturl': 'https://api.d.example/v1/integrations/auth/callback',
  'integrations.directoryservice.redirecturl': 'https://api.d.example/v1/integrations/auth/callback',
  'integrations.teamchat.redirecturl': 'https://api.d.example/v1/integrations/auth/callback',
  'integrations.personaldrive.redirecturl': 'https://api.d.example/v1/integrations/auth/callback',
  'integrations.email.rooturl': 'https://www.d.example',
  'integrations.email.producturl': 'https://console.d.example',
  'integrations.email.docsurl': 'https://docs.d.example',
  'integrations.email.apiurl': 'https://api.d.example',
};

describe('domain', () => {
  test('without it the fields stay empty, and those that are required are missing', async () => {
    const problems = await sandbox.problems('server: {}', environment);
    expect(problems.map(({ path, remedy }) => [path, remedy.endsWith('or set domain')])).toEqual([
      ['auth.token.audience', true],
      ['auth.token.issuer', true],
    ]);
  });

  test('fills exactly the fields that inherit it', async () => {
    showsWithinConfig('domain');
    const { config } = await sandbox.load('domain: d.example', environment);
    const inheriting = leaves.filter(({ field }) => 'fromDomain' in field).map(({ path }) => path);
    expect(inheriting.toSorted()).toEqual(Object.keys(inherited).toSorted());
    for (const [path, value] of Object.entries(inherited))
      expect(valueAt(config, path.split('.')), path).toEqual(value);
  });

  test('changes no field that the file or the environment has set', async () => {
    const content = 'domain: d.example\nauth: {token: {issuer: https://issuer.example}}\nsessions: {domain: s.example}';
    const { config } = await sandbox.load(content, { ...environment, CORE_TOTP_ISSUER: 'Core' });
    expect(config.auth.token.issuer).toBe('https://issuer.example');
    expect(config.auth.token.audience).toBe('https://api.d.example');
    expect(config.sessions.domain).toBe('s.example');
    expect(config.totp.issuer).toBe('Core');
  });

  test('may come from the environment', async () => {
    const { config } = await sandbox.load(undefined, { ...environment, CORE_DOMAIN: 'd.example' });
    expect(config.auth.token.issuer).toBe('https://api.d.example');
  });
});
