import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../kit/http/browser.ts';
import { startCertifiedProvider, type CertifiedProvider } from '../kit/identity/certified-provider.ts';
import { come, localSettings } from '../kit/integrations/local-connection.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let provider: CertifiedProvider;
let owner: Person;
let origin: string;

beforeAll(async () => {
  world = await openWorld();
  origin = `http://localhost:${new URL((await world.listen()).url).port}`;
  provider = await startCertifiedProvider([`${origin}/v1/integrations/auth/callback`]);
  await world.reconfigure({
    ...localSettings(provider),
    CORE_INTEGRATIONS_OIDCLOCAL_REDIRECTURL: `${origin}/v1/integrations/auth/callback`,
    CORE_INTEGRATIONS_EMAIL_APIURL: origin,
  });
  owner = await buildPerson(world);
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

/** The integration works: it shows the claims of the person who has signed in. */
async function expectConnected(client: TestClient, id: string): Promise<void> {
  const { body } = await client.get(`/v1/integrations/${id}`);
  expect(body).toMatchObject({ status: 'connected', account_id: provider.url, responsible_id: owner.user.id });
  const inspected = await client.post(`/v1/integrations/${id}/operations/run`, { operation: 'claimsInspect' });
  expect(inspected.body).toMatchObject({ status: 'ok', result: { claims: { ...provider.claims, iss: provider.url } } });
}

test('an integration is connected at a certified provider', async () => {
  const client = await signedIn(world, owner);
  const { body } = await client.post('/v1/integrations/auth/start', { definition_id: 'oidclocal', name: 'first' });
  const back = await come(client, await provider.browse(body.auth_url));
  expect({ status: back.status, location: back.headers['location'] }).toEqual({
    status: 302,
    location: `${origin}/v1/integrations/connected`,
  });
  await expectConnected(client, body.id);
});

test('in a real browser: an integration is connected at a certified provider, and a page says so', async (context) => {
  const browser = await Browser.start();
  const page = typeof browser === 'string' ? context.skip(browser) : browser;
  try {
    await page.open(`${origin}/docs/errors`);
    const send = (path: string, body: object) =>
      page.evaluate(`(async () => {
        await fetch('/livez');
        const token = (/csrf_token=([^;]+)/.exec(document.cookie) ?? [])[1] ?? '';
        const headers = { 'content-type': 'application/json', 'x-csrf-token': token };
        const sent = ${JSON.stringify(JSON.stringify(body))};
        return (await fetch('${path}', { method: 'POST', headers, body: sent })).json();
      })()`);
    await send('/v1/login', { username: owner.user.email, password: testPassword });
    const begun = await send('/v1/integrations/auth/start', { definition_id: 'oidclocal', name: 'second' });
    await page.open(begun.auth_url);
    expect(await page.evaluate('location.href')).toBe(`${origin}/v1/integrations/connected`);
    expect(await page.evaluate('document.body.innerText')).toContain('connected');
    await expectConnected(await signedIn(world, owner), begun.id);
    // The browser has no state any more: to come back again connects nothing.
    await page.open(`${origin}/v1/integrations/auth/callback?code=again&state=${begun.state}`);
    expect(await page.evaluate('document.body.innerText')).toContain('Begin again');
  } finally {
    await page.close();
  }
});
