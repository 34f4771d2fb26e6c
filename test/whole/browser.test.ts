import { afterAll, beforeAll, expect, test } from 'vitest';
import { Authenticator } from '../kit/authenticator.ts';
import { Browser } from '../kit/browser.ts';
import { tokenIn, waitForMails } from '../kit/mailbox.ts';
import { passkeyEnvironment } from '../kit/register-passkey.ts';
import { eventually } from '../kit/eventually.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let browser: Browser | string;
/** Where the pages come from; browsers allow passkeys at `localhost` without HTTPS. */
let origin: string;

beforeAll(async () => {
  browser = await Browser.start();
  if (typeof browser === 'string') return;
  world = await openWorld({
    worker: true,
    environment: { ...passkeyEnvironment, CORE_AUTH_PROVIDERS_WEBAUTHN_RELYINGPARTYID: 'localhost' },
  });
  const { url } = await world.listen();
  origin = `http://localhost:${new URL(url).port}`;
  await world.reconfigure({
    CORE_AUTH_PROVIDERS_WEBAUTHN_REQUESTORIGINS: origin,
    CORE_INTEGRATIONS_EMAIL_APIURL: origin,
  });
});
afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await world?.close();
});

const email = 'browser@example.com';
const password = 'correct horse battery';

/** What the pages of a client have, as scripts of the page: requests with the CSRF token, and both ceremonies of passkeys. */
const clientScript = `
globalThis.send = async (url, body) => {
  const csrf = document.cookie.split('; ').find((entry) => entry.startsWith('csrf_token=')).slice('csrf_token='.length);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'x-csrf-token': decodeURIComponent(csrf), ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
};
globalThis.addPasskey = async (name) => {
  const { body } = await send('/v1/registration/options');
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(body.publicKey);
  const credential = await navigator.credentials.create({ publicKey });
  return send('/v1/registration/verification', { name, ...credential.toJSON() });
};
globalThis.signInWithPasskey = async () => {
  const { body } = await send('/v1/authentication/options');
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(body.publicKey);
  const credential = await navigator.credentials.get({ publicKey });
  return send('/v1/authentication/verification', credential.toJSON());
};
globalThis.self = async () => (await send('/graphql', { query: '{ self { email } }' })).body.data.self;
`;

test('in a real browser: sign-up, confirmation by mail, sign-in, passkey, second factor, sign-out everywhere', async (context) => {
  const page = typeof browser === 'string' ? context.skip(browser) : browser;
  const run = (script: string) => page.evaluate(script);
  const open = async (path: string) => {
    await page.open(`${origin}${path}`);
    await run(clientScript);
  };

  await open('/v1/verify');
  expect(await run(`send('/v1/register', ${JSON.stringify({ email, password })})`)).toMatchObject({ status: 202 });
  const [mail = ''] = await waitForMails(world, email);
  await open(`/v1/verify#token=${tokenIn(mail)}`);
  await run(`document.getElementById('password').value = ${JSON.stringify(password)}`);
  await run(`document.getElementById('confirm').click()`);
  await eventually(async () => (await run(`document.getElementById('result').textContent`)).includes('confirmed'));

  const signedIn = await run(`send('/v1/login', ${JSON.stringify({ username: email, password })})`);
  expect(signedIn.status).toBe(200);
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

  expect(await run(`send('/v1/logout')`)).toMatchObject({ status: 200 });
  expect(await run('self()')).toBeNull();
  expect(await run('signInWithPasskey()')).toMatchObject({ status: 200, body: { user_id: signedIn.body.user_id } });
  expect(await run('self()')).toEqual({ email });
  expect((await waitForMails(world, email, 3)).join('\n')).toContain('A passkey was added');

  // A second factor is asked for after the passkey, too.
  const { body: setUp } = await run(`send('/v1/2fa/setup')`);
  const app = new Authenticator(world, setUp.secret);
  expect(await run(`send('/v1/2fa/confirm', { code: '${await app.code()}' })`)).toMatchObject({ status: 200 });
  await run(`send('/v1/logout')`);
  const { body: challenge } = await run('signInWithPasskey()');
  expect(challenge).toMatchObject({ mfa_required: true });
  expect(await run('self()')).toBeNull();
  const answer = { challenge_token: challenge.challenge_token, code: await app.nextCode() };
  expect(await run(`send('/v1/2fa/validate', ${JSON.stringify(answer)})`)).toMatchObject({ status: 200 });
  expect(await run('self()')).toEqual({ email });

  const elsewhere = world.client();
  const { challenge_token } = (await elsewhere.post('/v1/login', { username: email, password })).body;
  await elsewhere.post('/v1/2fa/validate', { challenge_token, code: await app.nextCode() });
  expect((await elsewhere.graphql('{ self { email } }')).data.self).toEqual({ email });
  expect(await run(`send('/v1/logout', { sessions: 'all' })`)).toMatchObject({ status: 200 });
  expect(await run('self()')).toBeNull();
  expect((await elsewhere.graphql('{ self { id } }')).data.self).toBeNull();
});
