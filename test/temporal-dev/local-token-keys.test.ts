import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { PersonalSettings, productEnvironment } from '#temporal-dev/product/product-environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'core-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const servers = {
  CORE_DB_PRIMARYDBSOURCE: 'postgres://localhost/core',
  CORE_JOBQUEUE_CONNECTIONURI: 'temporal://localhost:7233/default',
  CORE_AUTHZ_HOSTURL: 'http://localhost:8080',
};
const secret = 's'.repeat(40);
const other = 'o'.repeat(40);

/** The settings of API tokens with which `npm start` starts the API. */
async function started(variables: Record<string, string>, content: string) {
  const file = join(folder, 'core.yaml');
  writeFileSync(file, content || 'server: {dev: true}');
  const own = { ...servers, ...variables };
  const local = { apiPort: 4_000, metricsPort: 4_001, stateDir: folder };
  const environment = productEnvironment(own, new PersonalSettings(own, file), undefined, local);
  const { config } = await loadConfiguration({ directory: folder, file, environment, stateFolder: folder });
  const { enabled, keys } = config.auth.token.apitokens;
  return { enabled, keys: Object.entries(keys).map(([id, key]) => `${id}: ${key.status}`) };
}

test.each<[string, Record<string, string>, string, boolean, string[]]>([
  ['without settings', {}, '', true, ['local: active']],
  ['with another format of tokens', {}, 'auth: {token: {apitokens: {prefix: own}}}', true, ['local: active']],
  ['with another prefix of variables', { CORE_AUTH_TOKEN_APITOKENS_ENVPREFIX: 'MY_' }, '', true, ['local: active']],
  ['with a key in a variable', { CORE_API_TOKEN_KEY_OWN: secret }, '', true, ['own: active']],
  [
    'with a key in the file',
    {},
    `auth: {token: {apitokens: {keys: {own: {secret: ${secret}}}}}}`,
    true,
    ['own: active'],
  ],
  [
    'with an old key',
    { CORE_API_TOKEN_KEY_OLD: `deprecated:${other}` },
    '',
    true,
    ['old: deprecated', 'local: active'],
  ],
  ['where they are accepted', { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true' }, '', true, ['local: active']],
  ['where they are off', { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'false' }, '', false, []],
  ['where no variables are read', {}, "auth: {token: {apitokens: {envprefix: ''}}}", false, []],
])(
  '%s, npm start accepts API tokens with one active key, or not at all',
  async (_case, variables, file, enabled, keys) => {
    const found = await started(variables, file);
    expect({ ...found, keys: found.keys.toSorted() }).toEqual({ enabled, keys: keys.toSorted() });
  },
);
