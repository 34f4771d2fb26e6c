import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DnsServer } from '../../kit/servers/dns-server.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { FakeIdentityProvider } from '../../kit/fakes/fake-identity-provider.ts';
import { changeSettings } from '../../kit/records/organization-settings.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let fake: FakeIdentityProvider;
let dns: DnsServer;

beforeAll(async () => {
  dns = await DnsServer.start();
  world = await openWorld({ emailNetwork: { nameServers: [dns.address], limitMs: 1_000 } });
  fake = await FakeIdentityProvider.start(() => world.clock.now());
});
beforeEach(() => {
  dns.zone.clear();
  // Wrong guesses of earlier tests no longer count.
  world.clock.advance(16 * 60_000);
});
afterAll(async () => {
  await world.close();
  await Promise.all([fake.close(), dns.close()]);
});

/** Publishes the records with which a domain names organizations. */
function prove(domain: string, ...organizationIds: readonly string[]): void {
  const txt = organizationIds.map((id) => `organization=${id};domain=${domain}`);
  dns.zone.set(`_core-single-sign-on.${domain}`, { txt: ['something else', ...txt] });
}

/** An organization with single sign-on. */
async function withSignOn(domains: readonly string[], { isTested = true } = {}): Promise<Person> {
  const owner = await buildPerson(world);
  const client = await signedIn(world, owner);
  const settings = { issuer: fake.url, client_id: fake.client.id, client_secret: fake.client.secret };
  const payload = { ...settings, allowed_domains: domains };
  const { status, body } = await client.mutate({ method: 'PUT', url: '/v1/sso/provider', payload });
  expect(status, JSON.stringify(body)).toBe(200);
  if (!isTested) return owner;
  const { location } = (await client.post('/v1/sso/test')).body;
  const person = { sub: owner.user.id, email: owner.user.email, email_verified: true, name: 'Owner' };
  const { pathname, search } = fake.approve(location, person);
  expect((await client.get(pathname + search)).status).toBe(302);
  return owner;
}

const discover = (email: string, by: TestClient = world.client()) => by.post('/v1/sso/discover', { email });

async function idsFor(email: string): Promise<string[]> {
  const { status, body } = await discover(email);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.sign_ons.map((each: { organization_id: string }) => each.organization_id);
}

test('an address leads to the provider of the organization that has proven its domain', async () => {
  const { organization } = await withSignOn(['led.example']);
  prove('led.example', organization.id);
  const { body } = await discover('  Somebody@LED.example ');
  expect(body).toEqual({
    sign_ons: [
      {
        organization_id: organization.id,
        provider: new URL(fake.url).host,
        sign_in_url: expect.stringMatching(`/v1/sso/login\\?organization_id=${organization.id}$`),
      },
    ],
  });
  const { pathname, search } = new URL(body.sign_ons[0].sign_in_url);
  const begun = await world.client().get(pathname + search);
  expect([begun.status, new URL(begun.body.location).origin]).toEqual([302, new URL(fake.url).origin]);
});

test('an e-mail domain of the settings leads to it as well, and a domain beyond ASCII in either form', async () => {
  const { organization } = await withSignOn(['bücher-anmeldung.example']);
  await changeSettings(world, organization.id, { emailDomains: ['settings-only.example'] });
  prove('settings-only.example', organization.id);
  expect(await idsFor('a@settings-only.example')).toEqual([organization.id]);
  const ascii = 'xn--bcher-anmeldung-zvb.example';
  prove(ascii, organization.id);
  for (const domain of ['bücher-anmeldung.example', 'BÜCHER-anmeldung.Example', ascii])
    expect(await idsFor(`a@${domain}`), domain).toEqual([organization.id]);
});

test('nothing is found for a domain that is unknown, not proven, proven for another one, or below or above a proven one', async () => {
  const claiming = await withSignOn(['victim.example', 'claimed.example']);
  const { organization } = await withSignOn(['proven.example']);
  prove('proven.example', organization.id);
  // A zone can name any organization: it says so of itself alone.
  prove('elsewhere.example', organization.id);
  dns.zone.set('_core-single-sign-on.victim.example', {
    txt: [`organization=${claiming.organization.id};domain=claimed.example`],
  });
  dns.zone.set('_core-single-sign-on.alias.example', { cname: '_core-single-sign-on.proven.example' });
  for (const domain of [
    'nobody.example',
    'claimed.example',
    'victim.example',
    'elsewhere.example',
    'alias.example',
    'sub.proven.example',
    'example',
  ])
    expect(await idsFor(`a@${domain}`), domain).toEqual([]);
  expect(await idsFor('a@proven.example')).toEqual([organization.id]);
});

test('nothing is found at a provider that no manager has tested, and for an organization without one', async () => {
  const untested = await withSignOn(['waiting.example'], { isTested: false });
  const without = await buildPerson(world);
  await changeSettings(world, without.organization.id, { emailDomains: ['waiting.example'] });
  prove('waiting.example', untested.organization.id, without.organization.id, '01J0000000000000000000000A');
  expect(await idsFor('a@waiting.example')).toEqual([]);
});

test('several organizations of a domain are listed by what is public: no name, nothing of those that do not use it', async () => {
  const [one, other, third] = [
    await withSignOn(['shared.example']),
    await withSignOn(['shared.example']),
    await withSignOn(['another.example']),
  ];
  const ids = [one, other].map(({ organization }) => organization.id);
  prove('shared.example', ...ids.toReversed(), third.organization.id);
  const { body } = await discover('a@shared.example');
  expect(body.sign_ons.map((each: object) => Object.keys(each).toSorted().join())).toEqual(
    Array(2).fill('organization_id,provider,sign_in_url'),
  );
  expect(await idsFor('a@shared.example')).toEqual(ids.toSorted());
  expect(JSON.stringify(body)).not.toContain(one.organization.name);
});

test('the answer is the same for addresses with and without an account', async () => {
  const member = await buildPerson(world, { email: 'member@accounts.example' });
  const { organization } = await withSignOn(['accounts.example']);
  prove('accounts.example', organization.id);
  const known = await discover(member.user.email);
  const unknown = await discover('nobody@accounts.example');
  expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
  dns.zone.clear();
  expect(await idsFor(member.user.email)).toEqual([]);
});

test.each([
  'no address',
  'a@',
  '@b.example',
  'a@b.example@c.example',
  'a@[127.0.0.1]',
  'a@127.0.0.1',
  'a@b..example',
  '',
])('a malformed address is refused before a name server is asked: %s', async (email) => {
  dns.asked.length = 0;
  expectProblem(await discover(email), 'invalid_input');
  expect(dns.asked).toEqual([]);
});

test('a name server that fails, or does not answer, proves nothing', async () => {
  const { organization } = await withSignOn(['failing.example']);
  for (const behaviour of ['failing', 'silent'] as const) {
    dns.zone.set('_core-single-sign-on.failing.example', behaviour);
    expect(await idsFor('a@failing.example'), behaviour).toEqual([]);
  }
  prove('failing.example', organization.id);
  expect(await idsFor('a@failing.example')).toEqual([organization.id]);
});

test('whoever tries domains waits after thirty, also for one that is right; right ones do not count', async () => {
  const { organization } = await withSignOn(['counted.example']);
  prove('counted.example', organization.id);
  for (let tried = 0; tried < 30; tried++) {
    expect(await idsFor('a@counted.example')).toEqual([organization.id]);
    expect(await idsFor(`a@guess-${tried}.example`)).toEqual([]);
  }
  dns.asked.length = 0;
  for (const domain of ['guess-30.example', 'counted.example']) {
    const refused = await discover(`a@${domain}`);
    expectProblem(refused, 'too_many_requests');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect(dns.asked).toEqual([]);
  // Links with an id have a counter of their own.
  expect((await world.client().get(`/v1/sso/login?organization_id=${organization.id}`)).status).toBe(302);
  world.clock.advance(16 * 60_000);
  expect(await idsFor('a@counted.example')).toEqual([organization.id]);
});
