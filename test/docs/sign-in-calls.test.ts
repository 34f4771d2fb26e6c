import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isPlainObject } from '#config/schema/is-plain-object.ts';
import { hashPassword } from '#api/auth/password.ts';
import { demoPassword } from '#temporal-dev/product/seed-demo.ts';
import { asOwner } from '../kit/as-owner.ts';
import { startCertifiedProvider, type CertifiedProvider } from '../kit/identity/certified-provider.ts';
import { DnsServer } from '../kit/servers/dns-server.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { verificationToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

const page = 'docs/sign-in.md';

let world: World;
let shell: ReaderShell;
let provider: CertifiedProvider;
let dns: DnsServer;
/** Address of the API. */
let api: string;

beforeAll(async () => {
  dns = await DnsServer.start();
  world = await openWorld({ worker: true, emailNetwork: { nameServers: [dns.address], limitMs: 10_000 } });
  api = (await world.listen()).url;
  const callbacks = ['identity', 'sso', 'support'].map((name) => `${api}/v1/${name}/callback`);
  provider = await startCertifiedProvider(callbacks);
  await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_APIURL: api });
  await configure(codeBlocks(page, 'yaml'));
  shell = new ReaderShell(dirname(world.mailFolder), 'reader');
});
afterAll(async () => {
  await shell?.close();
  await provider?.close();
  await world.close();
  await dns.close();
});

/** A text of the page, with what a reader puts in its place. */
function filledIn(text: string): string {
  return text
    .replaceAll('https://login.example.com', provider.url)
    .replaceAll('<client id>', provider.client.id)
    .replaceAll('<client secret>', provider.client.secret)
    .replaceAll('http://127.0.0.1:17608', api);
}

/** Writes the configurations of the page into the file that the server reads. */
async function configure(blocks: readonly string[]): Promise<void> {
  expect(blocks.length).toBeGreaterThanOrEqual(3);
  const folder = join(dirname(world.mailFolder), 'config');
  mkdirSync(folder);
  const whole = blocks.map((block) => parse(filledIn(block)) as unknown).reduce(merged);
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(whole));
  expect(await world.config.reload()).toMatchObject({ outcome: 'changed', waiting: [] });
}

function merged(first: unknown, second: unknown): unknown {
  if (!isPlainObject(first) || !isPlainObject(second)) return second;
  const both = Object.entries(second).map(([key, value]) => [key, merged(first[key], value)] as const);
  return { ...first, ...Object.fromEntries(both) };
}

/** Runs the calls of a section. @param between what the reader does after a call, by its number from 0 */
async function follow(
  heading: string,
  between: Readonly<Record<number, (answer: string) => Promise<void>>> = {},
): Promise<string[]> {
  // The reader's app and the provider have clocks of their own.
  world.clock.advance(Date.now() - world.clock.now().getTime());
  const said: string[] = [];
  for (const [index, block] of codeBlocks(page, 'sh', heading).entries()) {
    const answer = await shell.run(filledIn(block));
    // No call is refused.
    expect(answer, block).not.toContain('/docs/errors#');
    said.push(answer);
    await between[index]?.(answer);
  }
  expect(said.length, `calls of ${heading}`).toBeGreaterThan(0);
  return said;
}

/** A browser, which has the cookies of a file; those of the shell are the reader's. @returns where it is at the end */
function browse(url: string, cookies = '.local/cookies.txt'): Promise<string> {
  return shell.run(`curl -sS -L -o /dev/null -w '%{url_effective}' -b ${cookies} -c ${cookies} "${url}"`);
}

/** Goes to the `location` of a response, and comes back to a page of the API. */
async function goToLocation(answer: string): Promise<void> {
  const { location } = JSON.parse(answer) as { location: string };
  expect(new URL(await browse(location)).origin).toBe(api);
}

/** Publishes the DNS records that a response shows. */
async function publish(answer: string): Promise<void> {
  const { domain_records: records } = JSON.parse(answer) as {
    readonly domain_records: readonly { readonly record_name: string; readonly record_value: string }[];
  };
  for (const { record_name: name, record_value: value } of records) dns.zone.set(name, { txt: [value] });
}

/** Goes to the `location` of the first factor, and keeps the token that the second one gives. */
async function goForSupport(answer: string): Promise<void> {
  const { location } = JSON.parse(answer) as { location: string };
  await shell.run(
    `SUPPORT=$(curl -sS -L -b .local/cookies.txt -c .local/cookies.txt '${location}' | field access_token)`,
  );
}

/** What the reader has done before, with README. */
async function readReadme(): Promise<Person['organization']> {
  const account = { email: 'you@example.com', password: 'a long enough password', first_name: 'You' };
  const { email, password } = account;
  const client = world.client();
  await client.post('/v1/register', account);
  await client.post('/v1/verify', { token: await verificationToken(world, email), password });
  const calls = codeBlocks('README.md', 'sh', 'Ten calls').map((block) => block.replace(/^API=.*/, `API=${api}`));
  for (const part of ['API=', '/livez', '/v1/login', 'createOrganization', '/v1/switch']) {
    const block = calls.find((one) => one.includes(part)) ?? '';
    expect(await shell.run(block), block).not.toContain('/docs/errors#');
  }
  const organization = (await shell.run('echo $ORGANIZATION')).trim();
  return { id: organization } as Person['organization'];
}

test('the calls of docs/sign-in.md work as pasted, after those of README', async () => {
  const organization = await readReadme();
  await buildPerson(world, { organization, role: 'admin' });
  const ben = await buildPerson(world, { email: 'ben@acme.example' });
  await asOwner(world, 'update users set password_hash = $1 where id = $2', [
    await hashPassword(demoPassword),
    ben.user.id,
  ]);
  await follow('# Sign-in');

  const devices = await follow('Devices', {
    1: async (answer) => {
      // The reader is still signed in, and the second device is not.
      expect(answer).toContain('"is_current":true');
      expect(await shell.run('curl -sS -b .local/second.txt $API/v1/sessions')).toContain('"code":"unauthenticated"');
      world.clock.advance(50 * 60_000);
    },
    // The next sign-in is of now.
    3: async () => world.clock.advance(-50 * 60_000),
  });
  const [sessions, , refreshed, signedOut, signedIn, preferred, allowed] = devices;
  expect(sessions).toContain('"user_agent":"curl');
  for (const answer of [refreshed, signedIn]) expect(answer).toContain('"token_type":"Bearer"');
  expect(signedOut).toContain('Signed out');
  expect(preferred).toContain(`"default_organization_id":"${organization.id}"`);
  expect(allowed).toContain('"allowed":true');

  const [withdrawn, declined, accepted, changed] = await follow('Members');
  expect(withdrawn).toContain('is sent to carl@example.com again');
  expect(withdrawn).toContain('is withdrawn');
  expect(declined).toContain('declined');
  expect(accepted).toContain(`"organization_id":"${organization.id}"`);
  expect(changed).toContain('"role":"admin"');

  const [, , validated, proven, required] = await follow('Second factor');
  expect(validated).toContain('"token_type":"Bearer"');
  expect(proven).toContain('for ten minutes');
  expect(required).toContain('"requires_second_factor":true');

  const [asOrganization, asPerson, rotated] = await follow('API tokens');
  for (const answer of [asOrganization, asPerson]) expect(answer).toContain('"data":[');
  expect(asPerson).toContain(`x-organization-id: ${organization.id}`);
  expect(rotated).toContain('"token":"pat_');

  provider.claims = { ...provider.claims, email: 'you@example.com' };
  const [, unlinked] = await follow('Sign-in with a provider', { 0: goToLocation });
  expect(unlinked).toContain('The identity is unlinked');

  const [, , verified, , enforced] = await follow('Single sign-on', { 1: publish, 3: goToLocation });
  expect(verified).toContain('"is_proven":true');
  expect(enforced).toContain('"is_enforced":true');
  provider.claims = { ...provider.claims, sub: 'employee', email: 'employee@example.com' };
  expect(new URL(await browse('$API/v1/sso/login?organization_id=$ORGANIZATION', 'employee.txt')).origin).toBe(api);
  expect(await shell.run('curl -sS -b employee.txt $API/v1/account/userinfo')).toContain('employee@example.com');

  const [, , asSupport, impersonated] = await follow('Acting as another user', { 1: goForSupport });
  expect(asSupport).toMatch(/^support-access: id="/m);
  expect(asSupport).toContain('The access has ended');
  expect(impersonated).toContain('"token_type":"Bearer"');

  const [, , moved] = await follow('Password and e-mail address');
  expect(moved).toContain('The address is changed to me@example.com');

  const [reset, transferred, reactivated, deleted] = await follow('Leaving');
  expect(reset).toContain('"token_type":"Bearer"');
  expect(transferred).toContain('is transferred');
  expect(reactivated).toContain('active');
  expect(deleted).toContain('The account is deleted');
});
