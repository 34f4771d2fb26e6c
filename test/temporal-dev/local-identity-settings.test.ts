import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { localIdentitySettings, needsLocalIdentity } from '#temporal-dev/product/local-identity.ts';
import { PersonalSettings } from '#temporal-dev/product/product-environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'core-identity-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['integrations: {oidclocal: {enabled: true}}', true],
  ['integrations: {oidclocal: {enabled: true, discoveryurl: "http://127.0.0.1:9"}}', false],
  ['integrations: {oidclocal: {enabled: false}}', false],
  ['server: {dev: true}', false],
])('with %s, a provider is started: %s', (content, isNeeded) => {
  const file = join(folder, 'core.yaml');
  writeFileSync(file, content);
  expect(needsLocalIdentity(new PersonalSettings({}, file))).toBe(isNeeded);
});

test('the provider sends browsers back to the API', () => {
  expect(localIdentitySettings('http://127.0.0.1:2', 'http://127.0.0.1:1')).toMatchObject({
    'integrations.oidclocal.discoveryurl': 'http://127.0.0.1:2',
    'integrations.oidclocal.redirecturl': 'http://127.0.0.1:1/v1/integrations/auth/callback',
  });
});
