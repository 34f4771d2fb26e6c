import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { DnsServer } from '../../kit/servers/dns-server.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson } from '../../kit/people.ts';
import { SmtpServer } from '../../kit/servers/smtp-server.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let dns: DnsServer;
let smtp: SmtpServer;
/** Addresses of loopback that mail servers may have. */
const allowed = new Set(['127.0.0.1']);
const day = 86_400_000;

/** The avatar service and the list of disposable domains. */
const web = { profiles: 404, list: '', listStatus: 200, asked: [] as string[] };
const webServer = createServer((incoming, response) => {
  web.asked.push(`${incoming.method} ${incoming.url}`);
  if (incoming.url === '/list') response.writeHead(web.listStatus).end(web.list);
  else response.writeHead(web.profiles).end();
});

const variable = (name: string) => `CORE_ORMCONFIG_EMAILVALIDATION_${name}`;

beforeAll(async () => {
  dns = await DnsServer.start();
  smtp = await SmtpServer.start();
  webServer.listen(0, '127.0.0.1');
  await once(webServer, 'listening');
  const url = `http://127.0.0.1:${(webServer.address() as AddressInfo).port}`;
  world = await openWorld({
    emailNetwork: {
      nameServers: [dns.address],
      smtpPort: smtp.port,
      isAllowed: (address) => allowed.has(address),
      avatarUrl: `${url}/avatar`,
      disposableListUrl: `${url}/list`,
      limitMs: 1_000,
    },
    environment: { [variable('ENABLED')]: 'true' },
  });
});
afterAll(async () => {
  await world.close();
  webServer.closeAllConnections();
  webServer.close();
  await Promise.all([dns.close(), smtp.close()]);
});

const settings = ['ENABLEAUTOUPDATEDISPOSABLE', 'ENABLEGRAVATARCHECK', 'ENABLESMTPCHECK', 'BLOCKEDDOMAINS'];
const types = ['DISPOSABLE', 'FREE', 'ROLE'].map((name) => `ALLOWEDEMAILTYPES_${name}`);

beforeEach(async () => {
  const defaults = Object.fromEntries([...settings, ...types].map((name) => [variable(name), undefined]));
  await world.reconfigure({ ...defaults, [variable('ENABLED')]: 'true' });
  dns.zone.clear();
  for (const domain of ['company.example', 'gmail.com', 'mailinator.com', 'sub.mailinator.com', 'blocked.example'])
    dns.zone.set(domain, { mx: [[10, 'mx.company.example']] });
  dns.zone.set('mx.company.example', { a: ['127.0.0.1'] });
  dns.asked.length = 0;
  smtp.commands.length = 0;
  smtp.refused.clear();
  smtp.greeting = '220 mail.test ESMTP';
  Object.assign(web, { profiles: 404, list: '', listStatus: 500 });
  web.asked.length = 0;
});

const password = 'correct horse battery staple';
let network = 0;

/** A sign-up, each from a network address of its own, because checks of one address are counted. */
function register(email: string): Promise<TestAnswer> {
  const client = world.client();
  client.address = `198.51.100.${++network % 250}`;
  return client.post('/v1/register', { email, password });
}

async function expectAccepted(email: string): Promise<void> {
  const answer = await register(email);
  expect(answer.status, `${email}: ${JSON.stringify(answer.body)}`).toBe(202);
}

async function expectRefused(email: string, reason: string): Promise<void> {
  const count = 'select count(*)::int as count from email_verifications';
  const before = await asOwner(world, count);
  const answer = await register(email);
  expectProblem(answer, 'invalid_input', email);
  expect(answer.body.errors, email).toEqual([{ path: '/email', message: expect.stringContaining(reason) }]);
  expect(await asOwner(world, count)).toEqual(before);
}

const disposable = () => world.reconfigure({ [variable('ALLOWEDEMAILTYPES_DISPOSABLE')]: 'true' });

describe('an address', () => {
  test('of a person at a domain that receives mail is accepted', async () => {
    await expectAccepted('ada@company.example');
    expect(dns.asked).toEqual(['15 company.example']);
    expect(smtp.commands).toEqual([]);
  });

  test('that is none, or an unusual form of one, is refused before anybody is asked', async () => {
    for (const email of [
      '"a b"@company.example',
      'ada@localhost',
      'ada@[127.0.0.1]',
      'ada@company.example.',
      'ada@1.2.3.4',
    ])
      expectProblem(await register(email), 'invalid_input', email);
    expect(dns.asked).toEqual([]);
  });

  test('is not checked while enabled is off, except for blocked domains', async () => {
    shows('ormconfig.emailvalidation.enabled');
    await world.reconfigure({ [variable('ENABLED')]: 'false', [variable('BLOCKEDDOMAINS')]: 'blocked.example' });
    await expectAccepted('someone@mailinator.com');
    await expectAccepted('admin@gmail.com');
    await expectAccepted('ada@nowhere.example');
    await expectRefused('ada@blocked.example', 'not accepted here');
    expect(dns.asked).toEqual([]);
  });

  test('of a disposable service is refused, also below its domain, until allowedemailtypes.disposable says otherwise', async () => {
    shows('ormconfig.emailvalidation.allowedemailtypes.disposable');
    await expectRefused('someone@mailinator.com', 'disposable');
    await expectRefused('Someone@Sub.Mailinator.com', 'disposable');
    await disposable();
    await expectAccepted('someone@mailinator.com');
  });

  test('of a free service is refused until allowedemailtypes.free says otherwise', async () => {
    shows('ormconfig.emailvalidation.allowedemailtypes.free');
    for (const domain of ['gmail.com', 'web.de', 'mailbox.org', 'joe.fastmail.com'])
      await expectRefused(`someone@${domain}`, 'free e-mail service');
    // A free service, below which others have their domains.
    dns.zone.set('company.net.ua', { mx: [[10, 'mx.company.example']] });
    await expectRefused('someone@net.ua', 'free e-mail service');
    await expectAccepted('ada@company.net.ua');
    await world.reconfigure({ [variable('ALLOWEDEMAILTYPES_FREE')]: 'true' });
    await expectAccepted('someone@gmail.com');
  });

  test('of a role is refused until allowedemailtypes.role says otherwise', async () => {
    shows('ormconfig.emailvalidation.allowedemailtypes.role');
    for (const name of ['admin', 'no-reply', 'Support+tag']) await expectRefused(`${name}@company.example`, 'function');
    await expectAccepted('adminton@company.example');
    await world.reconfigure({ [variable('ALLOWEDEMAILTYPES_ROLE')]: 'true' });
    await expectAccepted('admin@company.example');
  });

  test('at one of blockeddomains, or below it, is refused in every form', async () => {
    shows('ormconfig.emailvalidation.blockeddomains');
    await world.reconfigure({ [variable('BLOCKEDDOMAINS')]: 'Blocked.example' });
    await expectRefused('ada@blocked.example', 'not accepted here');
    await expectRefused('ADA@eu.BLOCKED.example', 'not accepted here');
    await expectAccepted('ada@company.example');
    expectProblem(await register('ada@blocked.example.'), 'invalid_input');
  });

  test('T-130: gets the same answer whether or not it has an account', async () => {
    const { user } = await buildPerson(world, { email: 'known@mailinator.com' });
    const [known, unknown] = [await register(user.email), await register('other@mailinator.com')];
    expect(known.body.errors).toEqual(unknown.body.errors);
    await disposable();
    const [first, second] = [await register(user.email), await register('other@mailinator.com')];
    expect([first.status, second.status]).toEqual([202, 202]);
  });
});

describe('the mail server of a domain', () => {
  test('is its MX, else the domain itself; a domain with neither, or with the null MX, is refused', async () => {
    dns.zone.set('bare.example', { a: ['192.0.2.1'] });
    await expectAccepted('ada@bare.example');
    dns.zone.set('null.example', { mx: [[0, '']], a: ['192.0.2.1'] });
    await expectRefused('ada@null.example', 'receives no e-mail');
    dns.zone.set('empty.example', {});
    await expectRefused('ada@empty.example', 'receives no e-mail');
    await expectRefused('ada@misspelt.example', 'receives no e-mail');
  });

  test.each(['failing', 'silent'] as const)(
    'speaks for the address while the name server is %s, and a log line says so',
    async (state) => {
      dns.zone.set('company.example', state);
      world.logs.length = 0;
      await expectAccepted(`${state}@company.example`);
      const lines = world.logs.filter(({ msg }) => String(msg).includes('accepted without an answer'));
      expect(lines).toMatchObject([{ domain: 'company.example' }]);
      expect(JSON.stringify(lines)).not.toContain(`${state}@`);
    },
  );

  test('is asked about the address if enablesmtpcheck is on, and no mail is sent', async () => {
    shows('ormconfig.emailvalidation.enablesmtpcheck');
    await world.reconfigure({ [variable('ENABLESMTPCHECK')]: 'true' });
    await expectAccepted('ada@company.example');
    expect(smtp.commands).toContain('RCPT TO:<ada@company.example>');
    expect(smtp.commands.join()).not.toContain('DATA');
    smtp.refused.set('noone', '550 5.1.1 no such mailbox');
    await expectRefused('noone@company.example', 'does not exist');
    smtp.refused.set('gone', '550 No such user');
    await expectRefused('gone@company.example', 'does not exist');
  });

  test('refuses us and not the address, if it says so, or refuses its postmaster too', async () => {
    await world.reconfigure({ [variable('ENABLESMTPCHECK')]: 'true' });
    smtp.refused.set('listed', '550 5.7.1 your network is on a list');
    await expectAccepted('listed@company.example');
    smtp.refused.set('later', '451 4.7.1 try again later');
    await expectAccepted('later@company.example');
    smtp.refused.set('anybody', '550 go away').set('postmaster', '550 go away');
    await expectAccepted('anybody@company.example');
  });

  test.each([
    ['says nothing', undefined],
    ['does not want to talk', '554 no service'],
    ['speaks something else', 'SSH-2.0-OpenSSH_9.6'],
    ['does not stop talking', `220-${'x'.repeat(100_000)}`],
  ])('does not keep people out when it %s', async (_name, greeting) => {
    await world.reconfigure({ [variable('ENABLESMTPCHECK')]: 'true' });
    smtp.greeting = greeting;
    smtp.refused.set('ada', '550 5.1.1 no such mailbox');
    await expectAccepted('ada@company.example');
  });

  test('is not asked if it is in our own network, whatever the domain says', async () => {
    await world.reconfigure({ [variable('ENABLESMTPCHECK')]: 'true' });
    for (const address of ['10.0.0.1', '169.254.169.254', '127.0.0.2']) {
      dns.zone.set('mx.company.example', { a: [address] });
      await expectAccepted('ada@company.example');
    }
    expect(smtp.commands).toEqual([]);
    // The product itself asks public addresses only.
    const real = await openWorld({
      emailNetwork: { nameServers: [dns.address], smtpPort: smtp.port },
      environment: {
        [variable('ENABLED')]: 'true',
        [variable('ENABLESMTPCHECK')]: 'true',
        [variable('ENABLEGRAVATARCHECK')]: 'false',
        [variable('ENABLEAUTOUPDATEDISPOSABLE')]: 'false',
      },
    });
    dns.zone.set('mx.company.example', { a: ['127.0.0.1'] });
    expect((await real.client().post('/v1/register', { email: 'ada@company.example', password })).status).toBe(202);
    expect(smtp.commands).toEqual([]);
    await real.close();
  });

  test('is not asked about an address with a profile at the avatar service, unless enablegravatarcheck is off', async () => {
    shows('ormconfig.emailvalidation.enablegravatarcheck');
    await world.reconfigure({ [variable('ENABLESMTPCHECK')]: 'true' });
    smtp.refused.set('ada', '550 5.1.1 no such mailbox');
    web.profiles = 200;
    await expectAccepted('ada@company.example');
    expect(web.asked.filter((line) => line.startsWith('HEAD'))).toHaveLength(1);
    // The service gets the hash alone.
    expect(web.asked.join()).not.toContain('ada');
    web.profiles = 500;
    expectProblem(await register('ada@company.example'), 'invalid_input');
    web.asked.length = 0;
    web.profiles = 200;
    await world.reconfigure({ [variable('ENABLEGRAVATARCHECK')]: 'false' });
    expectProblem(await register('ada@company.example'), 'invalid_input');
    expect(web.asked.filter((line) => line.startsWith('HEAD'))).toEqual([]);
  });
});

describe('the list of disposable domains', () => {
  const listOf = (...domains: string[]) =>
    [...domains, ...Array.from({ length: 1_200 }, (_, index) => `throwaway-${index}.example`)].join('\n');
  const updates = () => web.asked.filter((line) => line.startsWith('GET /list'));

  test('is updated in the background once a day; a failure, or a list that cannot be right, keeps the last one', async () => {
    dns.zone.set('new-throwaway.example', { a: ['192.0.2.1'] });
    world.clock.advance(2 * day);
    Object.assign(web, { list: listOf('new-throwaway.example', 'tempmail.net', 'gmail.com'), listStatus: 200 });
    await register('first@company.example');
    await eventually(async () => (await register('ada@new-throwaway.example')).status === 400);
    expect(updates()).toHaveLength(1);
    // The package of free services names it, too.
    await expectRefused('someone@tempmail.net', 'disposable');
    // Whoever can change the list cannot refuse everybody.
    await world.reconfigure({ [variable('ALLOWEDEMAILTYPES_FREE')]: 'true' });
    await expectAccepted('someone@gmail.com');
    await expectAccepted('someone@mailinator.com');
    for (const [list, listStatus] of [
      [listOf(), 500],
      ['gmail.com\nmailinator.com', 200],
      ['x'.repeat(9_000_000), 200],
    ] as const) {
      Object.assign(web, { list, listStatus });
      world.clock.advance(day);
      world.logs.length = 0;
      await register('second@company.example');
      await eventually(() => world.logs.some(({ msg }) => String(msg).includes('the last one stays in use')));
      await expectRefused('ada@new-throwaway.example', 'disposable');
    }
  });

  test('stays that of the release while enableautoupdatedisposable is off', async () => {
    shows('ormconfig.emailvalidation.enableautoupdatedisposable');
    await world.reconfigure({ [variable('ENABLEAUTOUPDATEDISPOSABLE')]: 'false' });
    world.clock.advance(2 * day);
    await register('third@company.example');
    expect(updates()).toEqual([]);
  });
});

test('checks of one network address are counted, also those that refuse', async () => {
  const client = world.client();
  client.address = '203.0.113.77';
  await asOwner(
    world,
    `insert into sign_in_failures (key, failures, first_failed_at, last_failed_at) values ($1, 99, $2, $2)`,
    [`check-email:${client.address}`, world.clock.now()],
  );
  await world.reconfigure({ [variable('BLOCKEDDOMAINS')]: 'blocked.example' });
  const ask = () => client.post('/v1/register', { email: 'someone@blocked.example', password });
  expectProblem(await ask(), 'invalid_input');
  expectProblem(await ask(), 'too_many_requests');
});
