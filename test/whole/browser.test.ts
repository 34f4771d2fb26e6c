import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { Authenticator } from '../kit/identity/authenticator.ts';
import { Browser } from '../kit/http/browser.ts';
import { startCertifiedProvider, type CertifiedProvider } from '../kit/identity/certified-provider.ts';
import { eventually } from '../kit/eventually.ts';
import { linkIn, waitForMails } from '../kit/mailbox.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import { codeBlocks } from '../kit/records/reader-shell.ts';
import { choose, shownText, type, untilStep } from '../kit/http/page-checks.ts';
import { passkeyEnvironment } from '../kit/identity/register-passkey.ts';
import { createFile } from '../kit/files/stored-upload.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let browser: Browser | string;
let provider: CertifiedProvider;
/** Where the pages come from; browsers allow passkeys at `localhost` without HTTPS. */
let origin: string;
/** Where browsers go after a sign-in at a provider. */
let console_: string;

beforeAll(async () => {
  browser = await Browser.start();
  if (typeof browser === 'string') return;
  world = await openWorld({
    worker: true,
    environment: { ...passkeyEnvironment, CORE_AUTH_PROVIDERS_WEBAUTHN_RELYINGPARTYID: 'localhost' },
  });
  const { url } = await world.listen();
  origin = `http://localhost:${new URL(url).port}`;
  console_ = `${origin}/docs/errors`;
  provider = await startCertifiedProvider([`${origin}/v1/identity/callback`, `${origin}/v1/sso/callback`]);
  await world.reconfigure({
    CORE_AUTH_PROVIDERS_WEBAUTHN_REQUESTORIGINS: origin,
    CORE_INTEGRATIONS_EMAIL_APIURL: origin,
    CORE_AUTH_SUPPORTEDPROVIDERS: 'identity',
    CORE_AUTH_PROVIDERS_REDIRECTURL: console_,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTID: provider.client.id,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTSECRET: provider.client.secret,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTENDPOINT: provider.url,
  });
});
afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await provider?.close();
  await world?.close();
});

/** What the pages of a client have: the functions of docs/sign-in.md, and two for the test. */
const clientScript = `
${codeBlocks('docs/sign-in.md', 'js').join('\n')}
async function self() {
  return (await send('/graphql', { query: '{ self { email } }' })).body.data.self;
}
`;

/** The browser of somebody new: no site knows it. */
async function newBrowser(context: TestContext) {
  const page = typeof browser === 'string' ? context.skip(browser) : browser;
  const forget = () => page.send('Network.clearBrowserCookies');
  await forget();
  const run = (script: string) => page.evaluate(script);
  const open = async (url: string | URL) => {
    await page.open(new URL(url, origin).href);
    await run(clientScript);
  };
  return {
    page,
    run,
    open,
    forget,
    post: (path: string, body?: object) => run(`send('${path}', ${JSON.stringify(body)})`),
    put: (path: string, body: object) => run(`send('${path}', ${JSON.stringify(body)}, 'PUT')`),
    /** Fills the form of a step by its labels, sends it, and waits for the next step. */
    fill: async (step: string, values: Readonly<Record<string, string>>, button: string, next: string) => {
      await untilStep(page, step);
      for (const [label, value] of Object.entries(values)) await type(page, label, value);
      await choose(page, button);
      await untilStep(page, next);
    },
    /** Goes to a provider and waits to be sent back. @returns the fragment of the address */
    goTo: async (url: string) => {
      await open(url);
      const { origin: at, pathname, hash } = new URL(await run('location.href'));
      expect(at + pathname, await run('document.body.textContent')).toBe(console_);
      return new URLSearchParams(hash.slice(1));
    },
    signIn: async ({ user }: Person) => {
      await open('/docs/errors');
      const { status } = await run(
        `send('/v1/login', ${JSON.stringify({ username: user.email, password: testPassword })})`,
      );
      expect(status).toBe(200);
    },
  };
}

/** The link in the newest mail to an address. */
async function mailedLink(address: string): Promise<URL> {
  const [mail = ''] = await waitForMails(world, address);
  return linkIn(mail);
}

test('in a real browser: sign-up, confirmation by mail, passkey, second factor, provider, sign-out everywhere', async (context) => {
  const { page, run, open, post, fill, goTo } = await newBrowser(context);
  const email = 'browser@example.com';
  const password = testPassword;

  await open('/docs/errors');
  expect(await post('/v1/register', { email, password })).toMatchObject({ status: 202 });
  await open(await mailedLink(email));
  await fill('form', { Password: password }, 'Confirm', 'done');

  const signedUp = await post('/v1/login', { username: email, password });
  expect(signedUp.status).toBe(200);
  expect(await run('self()')).toEqual({ email });

  await page.send('WebAuthn.enable');
  await page.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  const added = await run(`addPasskey('This browser')`);
  expect(added).toMatchObject({ status: 201, body: { name: 'This browser' } });
  // An authenticator gets no second passkey of the same person.
  await expect(run(`addPasskey('Again')`)).rejects.toThrow(/InvalidStateError/);

  expect(await post('/v1/logout')).toMatchObject({ status: 200 });
  expect(await run('self()')).toBeNull();
  expect(await run('signInWithPasskey()')).toMatchObject({ status: 200, body: { user_id: signedUp.body.user_id } });
  expect(await run('self()')).toEqual({ email });
  expect((await waitForMails(world, email, 3)).join('\n')).toContain('A passkey was added');

  // A second factor is asked for after the passkey, too.
  const { body: setUp } = await post('/v1/2fa/setup');
  const app = new Authenticator(world, setUp.secret);
  expect(await post('/v1/2fa/confirm', { code: await app.code() })).toMatchObject({ status: 200 });
  await post('/v1/logout');
  const { body: challenge } = await run('signInWithPasskey()');
  expect(challenge).toMatchObject({ mfa_required: true });
  expect(await run('self()')).toBeNull();
  const validate = async (challenge_token: string | null) =>
    post('/v1/2fa/validate', { challenge_token, code: await app.nextCode() });
  expect(await validate(challenge.challenge_token)).toMatchObject({ status: 200 });
  expect(await run('self()')).toEqual({ email });

  // And after a sign-in at a provider, which the account has linked.
  const linking = await post('/v1/account/identities', { provider: 'identity' });
  expect(linking.status, JSON.stringify(linking.body)).toBe(200);
  await goTo(linking.body.location);
  await post('/v1/logout');
  const back = await goTo('/v1/identity/login');
  expect(back.get('mfa_required')).toBe('true');
  expect(await run('self()')).toBeNull();
  expect(await validate(back.get('challenge_token'))).toMatchObject({ status: 200 });
  expect(await run('self()')).toEqual({ email });

  const elsewhere = world.client();
  const { challenge_token } = (await elsewhere.post('/v1/login', { username: email, password })).body;
  await elsewhere.post('/v1/2fa/validate', { challenge_token, code: await app.nextCode() });
  expect((await elsewhere.graphql('{ self { email } }')).data.self).toEqual({ email });
  expect(await post('/v1/logout', { sessions: 'all' })).toMatchObject({ status: 200 });
  expect(await run('self()')).toBeNull();
  expect((await elsewhere.graphql('{ self { id } }')).data.self).toBeNull();
});

test('in a real browser: the page of a mailed invitation makes members of new people and of people with an account', async (context) => {
  const { page, run, open, fill, signIn } = await newBrowser(context);
  const owner = await buildPerson(world);
  const inviting = await signedIn(world, owner);
  const invited = async (recipient: string) => {
    expect((await inviting.post('/v1/invites', { recipient, role: 'member' })).status).toBe(201);
    return mailedLink(recipient);
  };
  const membersOf = async () => (await inviting.get('/v1/memberships')).body.data.length;

  const email = 'invited-in-the-browser@example.com';
  const link = await invited(email);
  await open(link);
  const { user, organization } = owner;
  await untilStep(page, 'sign-up');
  expect(await shownText(page)).toContain(
    `${user.email} invites you to join ${organization.name} with the role member.`,
  );
  await fill('sign-up', { Password: testPassword }, 'Sign up and accept', 'joined');
  // The person is signed in already.
  expect(await run('self()')).toEqual({ email });
  expect(await membersOf()).toBe(2);
  await open(link);
  await untilStep(page, 'used');

  const guest = await buildPerson(world);
  await signIn(guest);
  await open(await invited(guest.user.email));
  await fill('accept', {}, 'Accept the invitation', 'joined');
  // The session goes on in the organization.
  expect(await run(`send('/v1/account/userinfo', undefined, 'GET')`)).toMatchObject({
    body: { email: guest.user.email, organization_id: organization.id },
  });
  expect(await membersOf()).toBe(3);
});

test('in a real browser: the pages of mailed links confirm and end a subscription', async (context) => {
  const { page, open, fill } = await newBrowser(context);
  const inviting = await signedIn(world, await buildPerson(world));
  const email = 'reader-in-the-browser@example.com';
  const { body } = await inviting.post('/v1/subscribers', { email });
  const about = async () => (await inviting.get(`/v1/subscribers/${body.id}`)).body;

  const [mail = ''] = await waitForMails(world, email);
  await open(linkIn(mail));
  await fill('form', {}, 'Confirm', 'done');
  expect(await about()).toMatchObject({ is_active: true, is_email_verified: true });
  await open(linkIn(mail, '/v1/unsubscribe'));
  expect(await about(), 'to open the page ends nothing').toMatchObject({ is_unsubscribed: false });
  // The mail has no topics, so the page offers to end all mails only.
  await untilStep(page, 'form');
  expect(await shownText(page)).not.toContain('Unsubscribe from these e-mails');
  await fill('form', {}, 'Unsubscribe from all e-mails of this organization', 'ended-all');
  expect(await about()).toMatchObject({ is_active: false, is_unsubscribed: true });
  // The link of the verification does not bring it back.
  await open(linkIn(mail));
  await untilStep(page, 'used');
  expect(await about()).toMatchObject({ is_active: false, is_unsubscribed: true });
});

test('in a real browser: single sign-on is set up, tested and enforced, and members come in with it alone', async (context) => {
  const { run, post, put, goTo, signIn, forget } = await newBrowser(context);
  // The provider has a clock of its own.
  world.clock.advance(Date.now() - world.clock.now().getTime());
  const owner = await buildPerson(world);
  const member = await buildPerson(world, { organization: owner.organization, role: 'member' });

  await signIn(owner);
  const { id, secret } = provider.client;
  const settings = { issuer: provider.url, client_id: id, client_secret: secret };
  expect(await put('/v1/sso/provider', settings)).toMatchObject({ status: 200, body: { tested_at: null } });
  provider.claims = { ...provider.claims, sub: 'owner', email: owner.user.email };
  await goTo((await post('/v1/sso/test')).body.location);
  expect(await post('/v1/sso/enforcement', { is_enforced: false })).toMatchObject({
    status: 200,
    body: { tested_at: expect.any(String) },
  });

  await forget();
  await signIn(member);
  provider.claims = { ...provider.claims, sub: 'member', email: member.user.email };
  const own = { provider: 'single_sign_on', organization_id: owner.organization.id };
  await goTo((await post('/v1/account/identities', own)).body.location);
  expect(await post('/v1/tasks', { title: 'before' })).toMatchObject({ status: 201 });

  const enforcing = await signedIn(world, owner);
  expect((await enforcing.post('/v1/sso/enforcement', { is_enforced: true })).body).toMatchObject({
    is_enforced: true,
  });
  expect(await post('/v1/tasks', { title: 'without' })).toMatchObject({ status: 403 });
  await post('/v1/logout');
  const refused = await post('/v1/login', { username: member.user.email, password: testPassword });
  expect(refused).toMatchObject({ status: 403, body: { code: 'single_sign_on_required' } });
  await goTo(refused.body.sign_in_url);
  expect(await run('self()')).toEqual({ email: member.user.email });
  expect(await post('/v1/tasks', { title: 'signed on' })).toMatchObject({ status: 201 });
});

test('T-110: in a real browser, a PDF is shown, and HTML and SVG of files run nowhere', async (context) => {
  const { page, run } = await newBrowser(context);
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  const script = '<script>top.ran = true</script>';
  const active = {
    'text/html': `<!doctype html>${script}`,
    'application/xhtml+xml': `<html xmlns="http://www.w3.org/1999/xhtml"><head>${script}</head></html>`,
    'image/svg+xml': `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`,
  };
  const linkTo = async (contentType: string, content: string): Promise<string> => {
    const { id, objectId } = await createFile(world, person, client, { bytes: Buffer.from(content) });
    // What an upload would refuse, too.
    await asOwner(world, 'update stored_objects set content_type = $2 where id = $1', [objectId, contentType]);
    await asOwner(world, 'update files set content_type = $2 where content = $1', [objectId, contentType]);
    const { data } = await client.graphql(`{ file(id: "${id}") { content { downloadUrl(disposition: INLINE) } } }`);
    const { pathname, search } = new URL(data.file.content.downloadUrl);
    return origin + pathname + search;
  };
  const downloads = () =>
    world.logs.filter(({ msg, route }) => msg === 'request' && route === '/v1/files/:id/download');

  await page.open(
    await linkTo('application/pdf', '%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF'),
  );
  expect(await run('document.contentType')).toBe('application/pdf');

  // The scripts run where the browser gets them as a page without a policy: the files are not protected by that of the page around them.
  await world.reconfigure({ CORE_SERVER_SECURE_CONTENTSECURITYPOLICY: '' });
  await page.open(`${origin}/livez`);
  const inFrame = (attribute: string, value: string) =>
    `document.body.append(Object.assign(document.createElement('iframe'), { ${attribute}: ${JSON.stringify(value)} }))`;
  await run(inFrame('srcdoc', active['text/html']));
  await eventually(() => run('window.ran === true'));

  for (const [type, content] of Object.entries(active)) {
    const link = await linkTo(type, content);
    await expect(page.open(link), type).rejects.toThrow('net::ERR_ABORTED');
    await page.open(`${origin}/livez`);
    const before = downloads().length;
    await run(inFrame('src', link));
    await run(
      `document.body.append(Object.assign(document.createElement('object'), { data: ${JSON.stringify(link)} }))`,
    );
    await eventually(() => downloads().length >= before + 2);
    const asScript = `new Promise((resolve) => document.head.append(Object.assign(document.createElement('script'),
      { src: ${JSON.stringify(link)}, onload: () => resolve('ran'), onerror: () => resolve('refused') })))`;
    expect(await run(asScript), type).toBe('refused');
    expect(await run('window.ran'), type).toBeUndefined();
  }
});
