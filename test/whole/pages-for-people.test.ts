import { afterAll, beforeAll, beforeEach, expect, test, type TestContext } from 'vitest';
import { pages } from '#api/rest/pages/pages.ts';
import { enroll } from '../kit/identity/authenticator.ts';
import { Browser } from '../kit/http/browser.ts';
import { startCertifiedProvider, type CertifiedProvider } from '../kit/identity/certified-provider.ts';
import { DnsServer } from '../kit/servers/dns-server.ts';
import {
  checkShownStep,
  checkSteps,
  checkTabOrder,
  choose,
  focus,
  press,
  shownText,
  type,
  untilStep,
} from '../kit/http/page-checks.ts';
import { supportEnvironment, supportFactor } from '../kit/identity/support-access.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import {
  emailChangeToken,
  inviteToken,
  reactivationToken,
  resetToken,
  verificationToken,
} from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let started: Browser | string;
let page: Browser;
let provider: CertifiedProvider;
let dns: DnsServer;
let origin: string;

const password = 'violet kettle marches north';

/** Colours that nobody could read if they were taken as they are. */
const hardColors = {
  CORE_INTEGRATIONS_EMAIL_COMPANYNAME: 'Northwind Compliance',
  CORE_INTEGRATIONS_EMAIL_SUPPORTEMAIL: 'help@northwind.example',
  CORE_INTEGRATIONS_EMAIL_BODYBACKGROUNDCOLOR: '#222222',
  CORE_INTEGRATIONS_EMAIL_CARDBACKGROUNDCOLOR: '#fff7e0',
  CORE_INTEGRATIONS_EMAIL_BUTTONCOLOR: '#ffd400',
  CORE_INTEGRATIONS_EMAIL_BUTTONTEXTCOLOR: '#ffffff',
  CORE_INTEGRATIONS_EMAIL_HEADINGCOLOR: '#ff66cc',
  CORE_INTEGRATIONS_EMAIL_TEXTCOLOR: '#bbbbbb',
  CORE_INTEGRATIONS_EMAIL_FOOTERTEXTCOLOR: '#444444',
};

beforeAll(async () => {
  started = await Browser.start();
  if (typeof started === 'string') return;
  page = started;
  dns = await DnsServer.start();
  world = await openWorld({ emailNetwork: { nameServers: [dns.address], limitMs: 1_000 } });
  const { url } = await world.listen();
  origin = `http://localhost:${new URL(url).port}`;
  provider = await startCertifiedProvider([
    `${origin}/v1/identity/callback`,
    `${origin}/v1/sso/callback`,
    `${origin}/v1/support/callback`,
  ]);
  await world.reconfigure({
    ...hardColors,
    CORE_INTEGRATIONS_EMAIL_APIURL: origin,
    CORE_AUTH_SUPPORTEDPROVIDERS: 'identity,webauthn',
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTID: provider.client.id,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTSECRET: provider.client.secret,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTENDPOINT: provider.url,
    CORE_AUTH_PROVIDERS_WEBAUTHN_DISPLAYNAME: 'Core of tests',
    CORE_AUTH_PROVIDERS_WEBAUTHN_RELYINGPARTYID: 'localhost',
    CORE_AUTH_PROVIDERS_WEBAUTHN_REQUESTORIGINS: origin,
  });
});
afterAll(async () => {
  await page?.close();
  await provider?.close();
  await world?.close();
  await dns?.close();
});
beforeEach((context: TestContext) => {
  if (typeof started === 'string') context.skip(started);
});

/** The page of somebody whom no site knows. */
async function openAnew(path: string, step: string): Promise<void> {
  await page.send('Network.clearBrowserCookies');
  await open(path, step);
}

async function open(path: string, step: string): Promise<void> {
  await page.open(origin + path);
  await untilStep(page, step);
}

async function signInOnPage(email: string, secret: string, next: string): Promise<void> {
  await type(page, 'E-mail address', email);
  await type(page, 'Password', secret);
  await choose(page, 'Sign in');
  await untilStep(page, next);
}

/** An invitation of an address, by somebody who has just founded the organization. */
async function invited(recipient: string): Promise<{ readonly owner: Person; readonly path: string }> {
  const owner = await buildPerson(world);
  const answer = await (await signedIn(world, owner)).post('/v1/invites', { recipient, role: 'member' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return { owner, path: `/v1/invite#token=${await inviteToken(world, recipient)}` };
}

const whoIsSignedIn = () => page.evaluate(`fetch('/v1/account/userinfo').then((answer) => answer.json())`);

test.each(pages.filter(({ url }) => url.startsWith('/v1/')).map(({ url }) => url))(
  'each step of %s can be read and used, whatever the colours and the width',
  async (url) => {
    await page.send('Network.clearBrowserCookies');
    await page.open(origin + url);
    await checkSteps(page);
    const hosts = `[...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]`;
    expect(await page.evaluate(hosts)).toEqual([origin]);
    expect(await page.evaluate('document.title')).toMatch(/^.+ · Northwind Compliance$/);
  },
);

test('a page allows scripts, styles and requests of this server alone, and no frame', async () => {
  const { headers } = await world.client().get('/v1/login');
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
});

test('the icons are of this server, the one in SVG in the colours of buttons; other files are not found', async () => {
  const client = world.client();
  const vector = await client.get('/favicon.svg');
  expect([vector.status, vector.headers['content-type']]).toEqual([200, 'image/svg+xml']);
  expect(String(vector.body)).toContain('fill="#ffd400"');
  const raster = await client.get('/favicon.ico');
  expect([raster.status, raster.headers['content-type']]).toEqual([200, 'image/x-icon']);
  for (const name of ['none.js', 'favicon.ico', '..%2Fpage-files.ts'])
    expect((await client.get(`/pages/${name}`)).status, name).toBe(404);
});

test('with the keyboard alone, somebody signs in, and sees who is signed in', async () => {
  const { user } = await buildPerson(world);
  await openAnew('/v1/login', 'sign-in');
  await checkTabOrder(page);
  await open('/v1/login', 'sign-in');
  await page.send('Input.insertText', { text: user.email });
  await press(page, 'Tab');
  await page.send('Input.insertText', { text: testPassword });
  await press(page, 'Enter');
  await untilStep(page, 'signed-in');
  expect(await shownText(page)).toContain(`Signed in as ${user.email}`);
  expect(await page.evaluate('document.activeElement.textContent')).toBe('You are signed in');
  await choose(page, 'Sign out');
  await untilStep(page, 'sign-in');
  expect((await whoIsSignedIn()).code).toBe('unauthenticated');
});

test('a wrong password, an unknown error and a lost connection are said in words', async () => {
  await openAnew('/v1/login', 'sign-in');
  await signInOnPage('nobody@example.com', 'not the password', 'sign-in');
  const problem = async () => {
    await page.evaluate(
      `new Promise((resolve) => { const wait = () => document.querySelector('[data-step]:not([hidden]) .problem:not([hidden])') ? resolve(0) : setTimeout(wait, 20); wait(); })`,
    );
    return page.evaluate(`document.querySelector('[data-step]:not([hidden]) .problem').textContent`);
  };
  expect(await problem()).toBe(
    'This did not work. Check what you entered. If you have just signed up, confirm your address first, with the link in our e-mail.',
  );
  await page.evaluate(`window.fetch = async () => new Response('{"code":"internal","detail":"a message for programs"}',
    { status: 500, headers: { 'content-type': 'application/problem+json', 'x-request-id': 'R-42' } })`);
  await choose(page, 'Sign in');
  expect(await problem()).toBe(
    'Something went wrong. Try again. If it happens again, write to help@northwind.example and quote R-42.',
  );
  await page.evaluate(`window.fetch = async () => { throw new TypeError('Failed to fetch'); }`);
  await choose(page, 'Sign in');
  expect(await problem()).toBe('The server cannot be reached. Check your connection, then try again.');
  await type(page, 'E-mail address', 'no address');
  await choose(page, 'Sign in');
  expect(await problem()).toBe('Enter a complete e-mail address, such as you@example.com.');
});

test('a second factor is asked for: a code, or a recovery code', async () => {
  const person = await buildPerson(world);
  const { user } = person;
  const { app, recoveryCodes } = await enroll(world, await signedIn(world, person));
  await openAnew('/v1/login', 'sign-in');
  await signInOnPage(user.email, testPassword, 'code');
  await type(page, 'Code', '000000');
  await choose(page, 'Continue');
  await expect.poll(() => shownText(page)).toContain('The code is wrong, or was used before');
  await type(page, 'Code', await app.nextCode());
  await choose(page, 'Continue');
  await untilStep(page, 'signed-in');

  await openAnew('/v1/login', 'sign-in');
  await signInOnPage(user.email, testPassword, 'code');
  await choose(page, 'Use a recovery code');
  await type(page, 'Recovery code', recoveryCodes[0] ?? '');
  await choose(page, 'Continue');
  await untilStep(page, 'signed-in');
});

test('a passkey signs in', async () => {
  const { user } = await buildPerson(world);
  await openAnew('/v1/login', 'sign-in');
  await signInOnPage(user.email, testPassword, 'signed-in');
  await page.send('WebAuthn.enable');
  const { authenticatorId } = await page.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  await page.evaluate(`(async () => {
    const { send } = await import('/pages/page.js');
    const { body } = await send('/v1/registration/options', {});
    const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(body.publicKey) });
    await send('/v1/registration/verification', credential.toJSON());
  })()`);
  await openAnew('/v1/login', 'sign-in');
  await choose(page, 'Sign in with a passkey');
  await untilStep(page, 'signed-in');
  expect(await shownText(page)).toContain(user.email);
  await page.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
});

test('a sign-in at a provider comes back to the page, which asks for the second factor; a refused one ends on a page', async () => {
  // The provider has a clock of its own.
  world.clock.advance(Date.now() - world.clock.now().getTime());
  const email = 'from-the-provider@example.com';
  provider.claims = { sub: 'from-the-provider', email, email_verified: true, name: 'From the provider' };
  const button = `Continue with ${new URL(provider.url).host}`;
  await openAnew('/v1/login', 'sign-in');
  await choose(page, button);
  await untilStep(page, 'signed-in');
  expect(await shownText(page)).toContain(email);

  const taken = await buildPerson(world);
  provider.claims = { sub: 'somebody-else', email: taken.user.email, email_verified: true, name: 'Else' };
  await openAnew('/v1/login', 'sign-in');
  await choose(page, button);
  await untilStep(page, 'refused');
  expect(await shownText(page)).toContain('There is an account with your e-mail address');
  await choose(page, 'Back to the sign-in');
  await untilStep(page, 'sign-in');

  const own = await signedIn(world, taken);
  const { app } = await enroll(world, own);
  const { body } = await own.post('/v1/account/identities', { provider: 'identity' });
  const back = await provider.browse(body.location);
  await own.get(back.pathname + back.search);
  await openAnew('/v1/login', 'sign-in');
  await choose(page, button);
  await untilStep(page, 'code');
  expect(await page.evaluate('location.hash')).toBe('');
  await type(page, 'Code', await app.nextCode());
  await choose(page, 'Continue');
  await untilStep(page, 'signed-in');
});

/** The single sign-on of an organization with a domain, tested by its owner. */
async function withSignOn(domain: string): Promise<Person> {
  const owner = await buildPerson(world);
  const own = await signedIn(world, owner);
  const { id: client_id, secret: client_secret } = provider.client;
  const payload = { issuer: provider.url, client_id, client_secret, allowed_domains: [domain] };
  expect((await own.mutate({ method: 'PUT', url: '/v1/sso/provider', payload })).status).toBe(200);
  provider.claims = { sub: owner.user.id, email: owner.user.email, email_verified: true, name: 'Owner' };
  const { pathname, search } = await provider.browse((await own.post('/v1/sso/test')).body.location);
  expect((await own.get(pathname + search)).status).toBe(302);
  return owner;
}

function prove(domain: string, organizationIds: readonly string[]): void {
  const txt = organizationIds.map((id) => `organization=${id};domain=${domain}`);
  dns.zone.set(`_core-single-sign-on.${domain}`, { txt });
}

test('with the keyboard alone, an e-mail address leads to the single sign-on of its organization', async () => {
  world.clock.advance(Date.now() - world.clock.now().getTime());
  const { organization } = await withSignOn('signing-on.example');
  prove('signing-on.example', [organization.id]);
  const email = 'anna@signing-on.example';
  provider.claims = { sub: 'anna', email, email_verified: true, name: 'Anna' };
  await openAnew('/v1/login', 'sign-in');
  await page.send('Input.insertText', { text: email });
  await focus(page, 'Single sign-on');
  await press(page, 'Enter');
  await untilStep(page, 'single-sign-on');
  // The address that was entered before is kept.
  await press(page, 'Tab');
  await press(page, 'Enter');
  await untilStep(page, 'signed-in');
  expect(await whoIsSignedIn()).toMatchObject({ email, organization_id: organization.id });
});

test('without a domain of an organization, the page offers the id; of several organizations, one is chosen', async () => {
  world.clock.advance(Date.now() - world.clock.now().getTime());
  const [one, other] = [await withSignOn('several.example'), await withSignOn('several.example')];
  provider.claims = { sub: 'bert', email: 'bert@several.example', email_verified: true, name: 'Bert' };
  await openAnew('/v1/login', 'sign-in');
  await choose(page, 'Single sign-on');
  await type(page, 'E-mail address', 'bert@several.example');
  await choose(page, 'Continue');
  await expect.poll(() => shownText(page)).toContain('No single sign-on is known for this address.');
  await choose(page, 'I have the id or the link of my organization');
  await untilStep(page, 'organization');
  await choose(page, 'Use my e-mail address');
  await untilStep(page, 'single-sign-on');

  prove('several.example', [one.organization.id, other.organization.id]);
  await choose(page, 'Continue');
  await untilStep(page, 'sign-ons');
  const text = await shownText(page);
  for (const { organization } of [one, other]) {
    expect(text).toContain(organization.id);
    expect(text).not.toContain(organization.name);
  }
  await checkTabOrder(page);
  await checkShownStep(page);
  await choose(page, `${new URL(provider.url).host}${other.organization.id}`);
  await untilStep(page, 'signed-in');
  expect(await whoIsSignedIn()).toMatchObject({ organization_id: other.organization.id });
  await openAnew('/v1/login', 'sign-in');
  await choose(page, 'Single sign-on');
  await type(page, 'E-mail address', 'bert@several.example');
  await choose(page, 'Continue');
  await untilStep(page, 'sign-ons');
  expect(await shownText(page)).toContain(`${other.organization.id}, used last in this browser`);
});

test('single sign-on that begins at another address of the server ends at its public one', async () => {
  world.clock.advance(Date.now() - world.clock.now().getTime());
  const { organization } = await withSignOn('alias.example');
  prove('alias.example', [organization.id]);
  provider.claims = { sub: 'clara', email: 'clara@alias.example', email_verified: true, name: 'Clara' };
  await page.send('Network.clearBrowserCookies');
  await page.open(`${origin.replace('localhost', '127.0.0.1')}/v1/login`);
  await untilStep(page, 'sign-in');
  await choose(page, 'Single sign-on');
  await type(page, 'E-mail address', 'clara@alias.example');
  await choose(page, 'Continue');
  await untilStep(page, 'signed-in');
  expect(await page.evaluate('location.origin')).toBe(origin);
});

test('a browser without passkeys is offered none', async () => {
  const offered = 'Sign in with a passkey';
  await openAnew('/v1/login', 'sign-in');
  expect(await shownText(page)).toContain(offered);
  const source = 'delete PublicKeyCredential.parseRequestOptionsFromJSON';
  const { identifier } = await page.send('Page.addScriptToEvaluateOnNewDocument', { source });
  await openAnew('/v1/login', 'sign-in');
  await page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  expect(await shownText(page)).not.toContain(offered);
});

test('support access ends on a page with the token and a way on, which programs do not get', async () => {
  world.clock.advance(Date.now() - world.clock.now().getTime());
  const callback = { CORE_AUTH_SUPPORTACCESS_REDIRECTURL: `${origin}/v1/support/callback` };
  await world.reconfigure({ ...supportEnvironment(provider), ...callback });
  const owner = await buildPerson(world);
  const { name, id } = owner.organization;
  const expiresAt = new Date(world.clock.now().getTime() + 3_600_000).toISOString();
  await (await signedIn(world, owner)).post('/v1/support-consents', { expires_at: expiresAt });
  provider.claims = { sub: 'staff', email: 'anna@staff.example', email_verified: true, name: 'Anna' };
  await openAnew('/v1/login', 'sign-in');
  const factor = { ...supportFactor, organization_id: id, reason: 'a ticket of the customer' };
  await page.evaluate(`(async () => {
    const { send } = await import('/pages/page.js');
    location.assign((await send('/v1/support/login', ${JSON.stringify(factor)})).body.location);
  })()`);
  await untilStep(page, 'begun');
  expect(await shownText(page)).toContain(`You act in ${name} for 60 minutes`);
  await checkShownStep(page);
  await checkTabOrder(page);
  const token = await page.evaluate(`document.querySelector('textarea').value`);
  const support = world.client();
  support.bearer = token;
  expect((await support.get('/v1/tasks')).headers['support-access']).toBeDefined();
  await choose(page, 'Read the reference of the API');
  await expect.poll(() => page.evaluate('location.pathname')).toBe('/docs');
});

test('an address is confirmed with another password, and its link is used then', async () => {
  const email = 'confirming@example.com';
  await world.client().post('/v1/register', { email, password });
  const path = `/v1/verify#token=${await verificationToken(world, email)}`;
  await openAnew('/v1/verify', 'invalid');
  await openAnew(path, 'form');
  await choose(page, 'I do not know it: choose another password');
  await type(page, 'New password', 'password');
  await choose(page, 'Set the password and confirm');
  await expect.poll(() => shownText(page)).toContain('This password is too easy to guess.');
  await type(page, 'New password', `other ${password}`);
  await choose(page, 'Set the password and confirm');
  await untilStep(page, 'done');
  await open(path, 'used');
  await choose(page, 'Sign in');
  await untilStep(page, 'sign-in');
  await signInOnPage(email, `other ${password}`, 'signed-in');
});

test('a new password, a new address and a deactivated account: each link does it once, and says so when it is late', async () => {
  const [person, late] = [await buildPerson(world), await buildPerson(world)];
  const { email } = person.user;
  await openAnew('/v1/forgot-password', 'form');
  await type(page, 'E-mail address', email);
  await choose(page, 'Send me the link');
  await untilStep(page, 'sent');
  await world.client().post('/v1/forgot-password', { email: late.user.email });
  await open(`/v1/password-reset#token=${await resetToken(world, email)}`, 'form');
  await type(page, 'New password', password);
  await choose(page, 'Set the password');
  await untilStep(page, 'done');
  await open(`/v1/password-reset#token=${await resetToken(world, email)}`, 'used');

  const own = world.client();
  expect((await own.post('/v1/login', { username: email, password })).status).toBe(200);
  const newEmail = `new-${email}`;
  await own.post('/v1/account/email', { password, new_email: newEmail });
  await open(`/v1/account/email/confirm#token=${await emailChangeToken(world, newEmail)}`, 'form');
  await type(page, 'Password of your account', 'a wrong one');
  await choose(page, 'Confirm');
  await expect.poll(() => shownText(page)).toContain('This is not the password of the account.');
  await type(page, 'Password of your account', password);
  await choose(page, 'Confirm');
  await untilStep(page, 'done');

  const leaving = world.client();
  await leaving.post('/v1/login', { username: newEmail, password });
  expect((await leaving.post('/v1/account/deactivate', { password })).status).toBe(200);
  await open(`/v1/account/reactivate#token=${await reactivationToken(world, newEmail)}`, 'form');
  const reactivating = `/v1/account/reactivate#token=${await reactivationToken(world, newEmail)}`;
  await type(page, 'Password of your account', password);
  await choose(page, 'Reactivate');
  await untilStep(page, 'done');
  await open(reactivating, 'used');
  expect(await shownText(page)).toContain('Your account is active');

  world.clock.advance(16 * 60_000);
  await open(`/v1/password-reset#token=${await resetToken(world, late.user.email)}`, 'expired');
});

test('an invitation of an address with an account: sign out as somebody else, sign in with the second factor, accept', async () => {
  const [guest, other] = [await buildPerson(world), await buildPerson(world)];
  const { app } = await enroll(world, await signedIn(world, guest));
  const { owner, path } = await invited(guest.user.email);
  await openAnew('/v1/login', 'sign-in');
  await signInOnPage(other.user.email, testPassword, 'signed-in');
  await open(path, 'other');
  const text = await shownText(page);
  for (const part of [owner.user.email, owner.organization.name, guest.user.email, other.user.email])
    expect(text).toContain(part);
  await choose(page, 'Sign out and use the invited address');
  await untilStep(page, 'sign-in');
  await type(page, 'Password', testPassword);
  await choose(page, 'Sign in and accept');
  await untilStep(page, 'code');
  await type(page, 'Code', await app.nextCode());
  await choose(page, 'Continue');
  await untilStep(page, 'joined');
  expect(await whoIsSignedIn()).toMatchObject({ email: guest.user.email, organization_id: owner.organization.id });
  await choose(page, 'Continue');
  await untilStep(page, 'signed-in');
  expect(await shownText(page)).toContain(
    `Signed in as ${guest.user.email}, in the organization ${owner.organization.name}.`,
  );
});

test('an invitation of a new address: sign up at a provider and accept, or decline', async () => {
  world.clock.advance(Date.now() - world.clock.now().getTime());
  const email = 'invited-at-the-provider@example.com';
  const { owner, path } = await invited(email);
  provider.claims = { sub: 'invited', email, email_verified: true, name: 'Invited' };
  await openAnew(path, 'sign-up');
  await choose(page, `Continue with ${new URL(provider.url).host}`);
  await untilStep(page, 'accept');
  await choose(page, 'Accept the invitation');
  await untilStep(page, 'joined');
  expect(await whoIsSignedIn()).toMatchObject({ email, organization_id: owner.organization.id });

  const declined = await invited('declining@example.com');
  await openAnew(declined.path, 'sign-up');
  await choose(page, 'Decline the invitation');
  await untilStep(page, 'decline');
  await choose(page, 'Decline');
  await untilStep(page, 'declined');
  await open(declined.path, 'used');
});
