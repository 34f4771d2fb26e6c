// Left to npm run prove; npm test has test/security/secrets-in-answers.test.ts.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaves } from '#config/objects/leaf.ts';
import { note, registry } from '#entities/index.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { armFailpoints, type Failpoint } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../kit/as-owner.ts';
import { enroll } from '../kit/identity/authenticator.ts';
import { hasFewPerOrganization } from '../kit/records/bulk-fixtures.ts';
import { databaseDump } from '../kit/database-dump.ts';
import { sampleOf } from '../kit/depth.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { storedRuns } from '../kit/histories.ts';
import { tokenIn, waitForMails } from '../kit/mailbox.ts';
import { Canaries } from '../kit/fuzz/canaries.ts';
import { inputOffers } from '../kit/fuzz/fuzz-inputs.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import { AuthorizationFixtures } from '../kit/records/authorization-fixtures.ts';
import { runsOf } from '../kit/runs.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { recordTried } from '../kit/tried.ts';
import { reactivationToken, unsubscribeToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';
import {
  creationsOfOneCall,
  fuzzWrites,
  otherRequiredFields,
  writtenFields,
  type Input,
} from '../kit/fuzz/fuzz-writes.ts';

/**
 * T-62: secrets that pass through are found nowhere afterwards: not in rows, history, events, workflows, log lines or metrics.
 * What people write stands in its records and their history, and nowhere else.
 */
let world: World;
let person: Person;
let metricsUrl: string;
/** What is secret: passwords, tokens, keys, and whatever was offered in their place. */
const secrets = new Canaries('canary');
/** What people wrote. */
const texts = new Canaries('wrote');

/** With which providers of e-mail sign what they report. */
const receiverSecrets = {
  providera: secrets.add(
    'signing secret of a provider',
    `whsec_${Buffer.from(secrets.make('key of a provider')).toString('base64')}`,
  ),
  providerb: secrets.make('password of a provider'),
};

/** Kinds into which people write texts. Some kinds are written by programs alone, with a scope of their tokens. */
const writtenKinds = registry.modules.filter(
  (module) =>
    module.mutate &&
    // Names of kinds and fields are no text.
    writtenFields(module, module.mutate.includes('create')).some((name) => !module.fields[name]?.naming) &&
    module.policy?.create.some(({ effect, when }) => effect === 'allow' && !['system', 'scope'].includes(when.is)),
);

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      CORE_DB_DEBUG: 'true',
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_WEBHOOKSECRET: receiverSecrets.providera,
      CORE_INTEGRATIONS_EMAIL_PROVIDERB_WEBHOOKSECRET: receiverSecrets.providerb,
      CORE_TOTP_RECOVERYCODELENGTH: '24',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: secrets.make('key of API tokens').padEnd(40, '-'),
    },
  });
  ({ metricsUrl } = await world.listen());
  person = await buildPerson(world);
  secrets.add('password of people', testPassword);
  await comeAndGo();
  await answerInvitation();
  await subscribe();
  await visitPortal();
  await report();
  await comeBack();
  await showTokens();
  await actAsSomebodyElse();
  await configure();
  await offerEverywhere('signed in', await signedIn(world, person));
  await offerEverywhere('signed in as nobody', world.client());
  await settled();
});
afterAll(() => world.close());

/** How many requests brought secrets to places where nobody asked for them, and how many there are. */
const offered = { times: 0, of: 0 };

/** At every address and with every operation, and in every sort of place. */
async function offerEverywhere(who: string, client: TestClient): Promise<void> {
  const all = await inputOffers(client, (place) => secrets.make(`${who}, ${place}`));
  const tried = sampleOf(`secrets ${who}`, all, { by: [({ at }) => at, ({ place }) => place] });
  for (const { send } of tried) await send();
  offered.times += tried.length;
  offered.of += all.length;
}

/** Signs up, confirms, signs in and out, with everything going wrong that can. */
async function comeAndGo(): Promise<void> {
  const email = 'birdcage@example.com';
  const password = secrets.make('password');
  const client = world.client();
  const post = (url: string, body: object) => client.post(url, body);
  await client.get('/livez');
  secrets.add('CSRF token before the sign-in', client.cookies.get('csrf_token') ?? '');
  await post('/v1/register', { email, password: secrets.make('password of the first sign-up') });
  const [first = ''] = await waitForMails(world, email);
  secrets.add('confirmation token of the first sign-up', tokenIn(first));
  world.clock.advance(61_000);
  await failingOnce('delivery-before-commit', () => post('/v1/register', { email, password }));
  const mails = await waitForMails(world, email, 2);
  const token = mails.map(tokenIn).find((candidate) => candidate !== tokenIn(first)) ?? '';
  secrets.add('confirmation token', token);
  await post('/v1/verify', { token: `${token.slice(0, -1)}~`, password });
  await post('/v1/verify', { token, password: secrets.make('password that is not of the sign-up') });
  await post('/v1/verify', { token, password });
  // What the page of the mail would be asked for by a client that does not know what a fragment is.
  await client.get(`/v1/verify?token=${token}`);
  await client.get(`/v1/verify/${token}`);
  await waitForMails(world, email, 3);
  world.clock.advance(61_000);
  await failingOnce('email-after-write', () =>
    post('/v1/register', { email, password: secrets.make('password of a repeated sign-up') }),
  );
  await waitForMails(world, email, 4);

  await post('/v1/login', { username: email, password: secrets.make('wrong password') });
  await post('/v1/login', { username: secrets.make('password for a name'), password: email });
  await post('/v1/login', { username: email, password: secrets.make('password with a surplus key'), otp: 1 });
  await post('/v1/login', { username: email, password: [secrets.make('password of another type')] });
  await client.mutate({
    method: 'POST',
    url: '/v1/login',
    headers: { 'content-type': 'application/json' },
    payload: `{"username":"${email}","password":"${secrets.make('password in half a document')}`,
  });
  await post('/v1/login', { username: email, password });
  const access = secrets.add('access token', client.cookies.get('access_token') ?? '');
  secrets.add('signature of the access token', access.slice(access.lastIndexOf('.') + 1));
  const refresh = secrets.add('refresh token', client.cookies.get('refresh_token') ?? '');
  secrets.add('session cookie', client.cookies.get('session') ?? '');
  await post('/v1/refresh', { refresh_token: refresh });
  secrets.add('CSRF token of the session', client.cookies.get('csrf_token') ?? '');
  await client.graphql('mutation { createOrganization(input: { name: "Aviary Inc." }) { organization { id } } }');
  await client.get(`/livez?access_token=${access}&password=${password}`);
  await client.get(`/nowhere?access_token=${access}`, { authorization: `Bearer ${access}` });
  const basic = Buffer.from(`${email}:${password}`).toString('base64');
  await client.get('/livez', { authorization: `Basic ${secrets.add('basic credentials', basic)}` });
  await post('/v1/account/email', {
    password: secrets.make('wrong password of a change'),
    new_email: 'moved@example.com',
  });
  await post('/v1/account/email', { password, new_email: 'moved@example.com' });
  const [moving = ''] = await waitForMails(world, 'moved@example.com');
  const change = secrets.add('token of a new address', tokenIn(moving));
  await post('/v1/account/email/confirm', { token: change, password: secrets.make('wrong password with a link') });
  await post('/v1/account/deactivate', { password: secrets.make('wrong password of a deactivation') });
  await useFactor(client, { username: email, password });
  // A failure of ours, with all of it at hand.
  await without('sign_in_failures', async () => {
    expect((await post('/v1/login', { username: email, password })).status).toBe(500);
  });
  world.clock.advance(46 * 60_000);
  await post('/v1/refresh', {});
  const next = secrets.add('next refresh token', client.cookies.get('refresh_token') ?? '');
  expect(next).not.toBe(refresh);
  await post('/v1/logout', {});
  const hashes = await asOwner<{ hash: string }>(world, 'select distinct password_hash as hash from users');
  for (const [place, { hash }] of hashes.entries()) secrets.add(`password hash ${place}`, hash);
  const kept = await asOwner<{ hash: string }>(
    world,
    `select kept.hash from sessions, unnest(array[refresh_token_hash, replaced_token_hash, sealed_successor]) as kept (hash)
     where kept.hash is not null`,
  );
  expect(kept.length).toBeGreaterThanOrEqual(3);
  for (const [place, { hash }] of kept.entries()) secrets.add(`refresh token hash ${place}`, hash);
  // That of the sign-up that was repeated; those of the links that were voided are gone.
  const waiting = await asOwner<{ hash: string }>(
    world,
    'select password_hash as hash from email_verifications where password_hash is not null',
  );
  expect(waiting).toHaveLength(1);
  secrets.add('waiting password hash', waiting[0]?.hash ?? '');
}

/** The client secret of an organization, which its provider alone is shown. */
async function setUpSingleSignOn(client: TestClient): Promise<void> {
  const payload = { issuer: 'https://127.0.0.1:1', client_id: 'client', client_secret: secrets.make('client secret') };
  const url = '/v1/sso/provider';
  expect((await client.mutate({ method: 'PUT', url, payload })).status).toBe(200);
  expect((await client.mutate({ method: 'PUT', url, payload: { ...payload, unknown: 1 } })).status).toBe(400);
  expect((await client.post('/v1/sso/test')).status).toBe(503);
  const [row] = await asOwner<{ sealed: string }>(world, 'select client_secret as sealed from identity_providers');
  secrets.add('sealed client secret', row?.sealed ?? '');
}

/** A secret of an organization for another system, which nobody reads again. */
async function keepSecret(client: TestClient): Promise<void> {
  const value = () => secrets.make('value of a stored secret');
  const { status, body } = await client.post('/v1/secrets', { name: 'of another system', value: value() });
  expect(status).toBe(201);
  const url = `/v1/secrets/${(body as { id: string }).id}`;
  expect((await client.mutate({ method: 'PATCH', url, payload: { value: value() } })).status).toBe(200);
  const { body: integration } = await client.post('/v1/integrations', { name: 'with an endpoint' });
  const input = { integration_id: integration.id, name: 'endpoint' };
  const { body: endpoint } = await client.post('/v1/integration-webhooks', input);
  secrets.add('signing secret of an endpoint', endpoint.secret);
  // Nobody listens there, and it is disabled before anything is due: its workflow would go on trying.
  const { body: target } = await client.post('/v1/webhook-endpoints', {
    name: 'planted',
    url: 'http://127.0.0.1:9/',
    topics: ['*'],
    scopes: ['task:read', 'note:read'],
  });
  secrets.add('secret that signs messages', target.secret);
  const replaced = await client.post(`/v1/webhook-endpoints/${target.id}/rotate`);
  secrets.add('rotated secret that signs messages', replaced.body.secret);
  await client.mutate({ method: 'PATCH', url: `/v1/webhook-endpoints/${target.id}`, payload: { status: 'disabled' } });
  const rotated = await client.post(`/v1/integration-webhooks/${endpoint.id}/rotate`);
  secrets.add('rotated signing secret of an endpoint', rotated.body.secret);
  await client.post('/v1/secrets', { name: 'too long', value: value().padEnd(70_000, '-') });
  await client.post('/v1/secrets', { name: 'of another type', value: [value()] });
  await client.graphql(
    'mutation ($value: String!) { createSecret(input: { name: 5, value: $value }) { secret { id } } }',
    {
      value: value(),
    },
  );
  const [row] = await asOwner<{ sealed: string }>(world, 'select value as sealed from secrets');
  secrets.add('sealed value of a stored secret', row?.sealed ?? '');
}

/** Somebody is invited and signs up with the invitation. */
async function answerInvitation(): Promise<void> {
  const email = 'nestling@example.com';
  const inviter = await signedIn(world, person);
  await inviter.post('/v1/invites', { recipient: email });
  const [mail = ''] = await waitForMails(world, email);
  const token = secrets.add('token of an invitation', tokenIn(mail));
  const invited = world.client();
  await invited.post('/v1/invite', { token });
  await invited.post('/v1/invite', { token: `${token.slice(0, -1)}~` });
  await inviter.post('/v1/invite/accept', { token });
  await invited.get(`/v1/invite?token=${token}`);
  const password = secrets.make('password of an invited person');
  expect((await invited.post('/v1/register', { email, password, invite_token: token })).status).toBe(201);
}

/** Somebody subscribes, and unsubscribes. */
async function subscribe(): Promise<void> {
  const email = 'reader@example.com';
  await (await signedIn(world, person)).post('/v1/subscribers', { email });
  const [mail = ''] = await waitForMails(world, email);
  const token = secrets.add('token of a subscriber', tokenIn(mail));
  const end = secrets.add('token to unsubscribe', await unsubscribeToken(world, email));
  const reader = world.client();
  await reader.post('/v1/subscribe/verify', { token: `${token.slice(0, -1)}~` });
  await reader.get(`/v1/subscribe/verify?token=${token}`);
  expect((await reader.post('/v1/subscribe/verify', { token })).status).toBe(200);
  await reader.post('/v1/unsubscribe', { token: [end] });
  await reader.get(`/v1/unsubscribe?token=${end}`);
  expect((await reader.post('/v1/unsubscribe', { token: end })).status).toBe(200);
  expect((await oneClick(reader, end)).status).toBe(200);
}

/** As programs for mail unsubscribe: the token is in the URL (RFC 8058). */
function oneClick(client: TestClient, token: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const url = `/v1/unsubscribe?token=${token}`;
  return client.request({ method: 'POST', url, headers, payload: 'List-Unsubscribe=One-Click' });
}

/** Somebody without an account looks at endpoints with a link. */
async function visitPortal(): Promise<void> {
  const made = await (await signedIn(world, person)).post('/v1/webhook-portal/links', {});
  const token = secrets.add('token of a link to the portal', String(made.body.url).split('#token=')[1] ?? '');
  const visitor = world.client();
  const headers = { 'webhook-portal-token': token };
  expect((await visitor.get('/v1/webhook-portal/endpoints', headers)).status).toBe(200);
  await visitor.get('/v1/webhook-portal/endpoints', { 'webhook-portal-token': `${token}~` });
  for (const url of ['/v1/webhook-portal', '/v1/webhook-portal/endpoints'])
    for (const name of ['token', 'webhook-portal-token']) await visitor.get(`${url}?${name}=${token}`);
  await visitor.get(`/v1/webhook-portal/endpoints/${token}`);
}

/** Providers of e-mail report, and others try to. */
async function report(): Promise<void> {
  const provider = world.client();
  const basic = (password: string) => `Basic ${Buffer.from(`any:${password}`).toString('base64')}`;
  const send = (name: string, headers: Record<string, string>) =>
    provider.request({ method: 'POST', url: `/v1/email/webhook/${name}`, headers, payload: { RecordType: 'Unknown' } });
  const headersOfB = { authorization: basic(receiverSecrets.providerb) };
  secrets.add('basic credentials of a provider', basic(receiverSecrets.providerb).slice('Basic '.length));
  expect((await send('providerb', headersOfB)).status).toBe(200);
  await send('providerb', { authorization: basic(secrets.make('wrong password of a provider')) });
  await send('providerb', { authorization: `Bearer ${receiverSecrets.providerb}` });
  await send(`providerb?secret=${receiverSecrets.providerb}`, {});
  await send('providera', { authorization: `Bearer ${receiverSecrets.providera}` });
  await send(`providera?secret=${encodeURIComponent(receiverSecrets.providera)}`, {});
}

/** Sets up a second factor, and offers right and wrong codes everywhere. */
async function useFactor(client: TestClient, credentials: object): Promise<void> {
  const { app, recoveryCodes } = await enroll(world, client);
  secrets.add('secret of the authenticator app', app.secret);
  for (const [place, code] of recoveryCodes.entries()) secrets.add(`recovery code ${place}`, code);
  const wrong = secrets.make('recovery code that is none').slice(0, 128);
  await client.post('/v1/2fa/step-up', { recovery_code: wrong });
  await client.post('/v1/2fa/disable', { recovery_code: [recoveryCodes[0]] });
  await client.post('/v1/2fa/step-up', { recovery_code: recoveryCodes[0] });
  const stranger = world.client();
  const { body } = await stranger.post('/v1/login', credentials);
  const challenge = secrets.add('challenge token', body.challenge_token);
  await stranger.post('/v1/2fa/validate', { challenge_token: `${challenge}x`, recovery_code: recoveryCodes[1] });
  await stranger.post('/v1/2fa/validate', { challenge_token: challenge, recovery_code: wrong });
  await stranger.post('/v1/2fa/validate', { challenge_token: challenge, recovery_code: recoveryCodes[1] });
  const [stored] = await asOwner<{ sealed: string; hashes: string[] }>(
    world,
    'select sealed_secret as sealed, recovery_code_hashes as hashes from second_factors',
  );
  secrets.add('stored factor: sealed secret', stored?.sealed ?? '');
  secrets.add('stored factor: hash of a recovery code', stored?.hashes[0] ?? '');
}

/** Links with which somebody gets back into their account, offered right and wrong. */
async function comeBack(): Promise<void> {
  const returning = await buildPerson(world, { organization: person.organization, role: 'member' });
  const { email } = returning.user;
  const client = world.client();
  await client.post('/v1/forgot-password', { email });
  const [mail = ''] = await waitForMails(world, email);
  const reset = secrets.add('token of a password link', tokenIn(mail));
  await client.post('/v1/password-reset', { token: `${reset.slice(0, -1)}~`, password: secrets.make('a password') });
  await client.get(`/v1/password-reset?token=${reset}`);
  const password = secrets.make('password set with a link');
  expect((await client.post('/v1/password-reset', { token: reset, password })).status).toBe(200);
  await client.post('/v1/login', { username: email, password });
  expect((await client.post('/v1/account/deactivate', { password })).status).toBe(200);
  const token = secrets.add('token of a reactivation', await reactivationToken(world, email));
  const stranger = world.client();
  await stranger.post('/v1/account/reactivate', { token, password: secrets.make('wrong password of a reactivation') });
  await stranger.post('/v1/account/reactivate', { token: `${token.slice(0, -1)}~`, password });
  expect((await stranger.post('/v1/account/reactivate', { token, password })).status).toBe(200);
}

/** Creates tokens of programs and shows them where they belong, and where they do not. */
async function showTokens(): Promise<void> {
  const client = await signedIn(world, person);
  await setUpSingleSignOn(client);
  await keepSecret(client);
  for (const [path, table] of [
    ['/v1/api-tokens', 'api_tokens'],
    ['/v1/personal-access-tokens', 'personal_access_tokens'],
  ] as const) {
    const created = await client.post(path, { name: 'a program', scopes: ['task:read'] });
    const { id, token: first } = created.body as { id: string; token: string };
    const rotated = await client.post(`${path}/${id}/rotate`);
    for (const [place, token] of [first, (rotated.body as { token: string }).token].entries()) {
      secrets.add(`${table}: token ${place}`, token);
      secrets.add(`${table}: secret ${place}`, token.slice(token.indexOf(id) + id.length + 1));
      await world.client().get('/v1/tasks', { authorization: `Bearer ${token}` });
      await world.client().get('/v1/tasks', { authorization: `Bearer ${token}x` });
      await world.client().get('/v1/tasks', { authorization: `Basic ${token}` });
      await world.client().get(`/v1/tasks?access_token=${token}`);
      await world.client().get(`/v1/tasks/${token}`);
      await client.post(path, { name: 'a program', scopes: [token] });
    }
    const [row] = await asOwner<{ hash: string }>(world, `select secret_hash as hash from ${table} where id = $1`, [
      id,
    ]);
    secrets.add(`token hash of ${table}`, row?.hash ?? '');
  }
}

/** A manager acts as a member; the token is shown once. */
async function actAsSomebodyElse(): Promise<void> {
  const member = await buildPerson(world, { organization: person.organization, role: 'member' });
  const client = await signedIn(world, person);
  const { body } = await client.post('/v1/impersonation', { user_id: member.user.id, reason: 'to plant its token' });
  const token = secrets.add('token of an impersonation', body.access_token);
  await world.client().get('/v1/tasks', { authorization: `Bearer ${token}` });
  await world.client().get(`/v1/tasks/${token}`, { authorization: `Bearer ${token}` });
  await client.post('/v1/impersonation', { user_id: token, reason: 'not a member' });
  await client.post('/v1/delegation/end', {}, { authorization: `Bearer ${token}` });
  const password = secrets.make('wrong password of support');
  await client.post('/v1/support/login', { email: 'a@b.example', password, organization_id: 'x', reason: 'too short' });
}

/** Every secret of the configuration, changed while it runs and refused. */
async function configure(): Promise<void> {
  for (const name of ['SESSIONS_SIGNINGKEY', 'SESSIONS_ENCRYPTIONKEY', 'TOTP_SECRET'])
    secrets.add(name, world.environment[`CORE_${name}`] ?? '');
  const pem = await readFile(join(dirname(world.mailFolder), 'signing-key.pem'), 'utf8');
  secrets.add('key that signs tokens', pem.split('\n')[1] ?? '');
  for (const { secret, field, variable } of leaves) {
    if (!secret || field.type !== 'text') continue;
    const mark = secrets.make(variable);
    const before = world.environment[variable];
    for (const value of [
      field.secret === 'url' ? `postgres://core:${mark}@127.0.0.1/core` : `${mark}${'-'.repeat(field.minLength ?? 0)}`,
      `https://example.com/${mark}`,
      `\0${mark}`,
    ])
      await world.reconfigure({ [variable]: value });
    await world.reconfigure({ [variable]: before });
  }
}

/** Does something that fails the first time, and is tried again. */
async function failingOnce(point: Failpoint, work: () => Promise<unknown>): Promise<void> {
  armFailpoints([{ name: point, action: 'throw', after: 0 }]);
  await work();
  await eventually(() => world.logs.some((line) => JSON.stringify(line).includes(`failpoint ${point}`)));
  armFailpoints([]);
}

/** While a table is not there, all that needs it is a failure of ours. */
async function without(table: string, work: () => Promise<void>): Promise<void> {
  await asOwner(world, `alter table ${table} rename to hidden`);
  try {
    await work();
  } finally {
    await asOwner(world, `alter table hidden rename to ${table}`);
  }
}

/** While a column has another type than this release knows, the database's messages quote what does not fit. */
async function withMisfit(table: string, column: string, work: () => Promise<void>): Promise<void> {
  await asOwner(world, `alter table ${table} rename ${column} to hidden`);
  await asOwner(world, `alter table ${table} alter hidden drop not null, add ${column} timestamptz`);
  try {
    await work();
  } finally {
    await asOwner(world, `alter table ${table} drop ${column}, alter hidden set not null`);
    await asOwner(world, `alter table ${table} rename hidden to ${column}`);
  }
}

async function settled(): Promise<void> {
  await eventually(() => isSettled(world));
  await eventually(async () => (await runsOf(world, 'ExecutionStatus = "Running"')).length === 0);
}

/** What the creations of one call require besides texts. */
async function requiredOf(fixtures: AuthorizationFixtures, module: EntityModule): Promise<Input[]> {
  const names = otherRequiredFields(module);
  if (names.length === 0) return [];
  const all: Input[] = [];
  for (let count = 0; count < creationsOfOneCall; count++) {
    const creation = await fixtures.creation(module.kind);
    all.push(Object.fromEntries(names.map((name) => [name, creation[name]])));
  }
  return all;
}

/** Log lines with marks in them. */
function logged(marks: Canaries): string[] {
  return world.logs.map((line) => JSON.stringify(line)).filter((line) => marks.in(line).length > 0);
}

async function inWorkflows(marks: Canaries): Promise<string[]> {
  const runs = await storedRuns(world);
  expect(runs.map(({ id }) => id.split('/')[0])).toEqual(expect.arrayContaining(['email']));
  expect(runs.some(({ decrypted }) => decrypted.includes('userId'))).toBe(true);
  return runs.flatMap(({ id, stored, decrypted }) => marks.in(stored + decrypted).map((name) => `${id}: ${name}`));
}

async function inMetrics(marks: Canaries): Promise<string[]> {
  const text = await (await fetch(metricsUrl)).text();
  expect(text).toContain('/v1/login');
  return marks.in(text);
}

describe('T-62: a secret', () => {
  test('of every sort is planted', () => {
    expect(secrets.size).toBeGreaterThan(200);
    recordTried('requests with secrets where nobody asks for them', offered.times, offered.of);
    const fields = registry.modules.flatMap(({ kind, fields: all }) =>
      Object.keys(all).flatMap((name) => (all[name]?.secret ? [`${kind}.${name}`] : [])),
    );
    const advice =
      'in test/security/planted-secrets.test.ts, plant a value of each new secret field, and say in which column it stands';
    expect(fields, advice).toEqual([
      'apiToken.secretHash',
      'emailVerification.passwordHash',
      'personalAccessToken.secretHash',
      'secondFactor.sealedSecret',
      'secondFactor.recoveryCodeHashes',
      'session.refreshTokenHash',
      'session.replacedTokenHash',
      'session.sealedSuccessor',
      'user.passwordHash',
      'identityProvider.clientSecret',
      // Mails with tokens, all of which are planted; they are sealed until they are sent.
      'accountEmail.content',
      'email.content',
      'webhookEndpoint.secret',
      'webhookEndpoint.formerSecret',
      'integrationWebhook.secret',
      'secret.value',
    ]);
  });

  test('is in no row, except for the hash in its column', async () => {
    const dump = await databaseDump(world);
    expect(dump.get('public.history')?.length).toBeGreaterThan(3);
    expect(dump.get('public.events')?.length).toBeGreaterThan(3);
    for (const [table, rows] of dump) {
      const isOwn = (name: string) =>
        (table === 'public.users' && name.startsWith('password hash')) ||
        (table === 'public.identity_providers' && name === 'sealed client secret') ||
        (table === 'public.secrets' && name === 'sealed value of a stored secret') ||
        name === `token hash of ${table.replace('public.', '')}` ||
        (table === 'public.sessions' && name.startsWith('refresh token hash')) ||
        (table === 'public.second_factors' && name.startsWith('stored factor')) ||
        (table === 'public.email_verifications' && name === 'waiting password hash');
      for (const row of rows)
        expect(
          secrets.in(row).filter((name) => !isOwn(name)),
          table,
        ).toEqual([]);
    }
  });

  test('is in no log line', () => {
    expect(world.logs.some(({ level }) => level === 'error')).toBe(true);
    expect(logged(secrets)).toEqual([]);
  });

  test('is in no workflow, not even after decryption', async () => {
    expect(await inWorkflows(secrets)).toEqual([]);
  });

  test('is in no metric', async () => {
    expect(await inMetrics(secrets)).toEqual([]);
  });
});

describe('T-62: text that people write', () => {
  beforeAll(async () => {
    const client = await signedIn(world, person);
    const fixtures = new AuthorizationFixtures(world, person);
    const isRefused = ({ status, body }: TestAnswer) => status >= 300 || body.errors !== undefined;
    for (const module of writtenKinds) {
      // Where there is no room for several records, the one that is there is changed.
      const mutate = (module.mutate ?? []).filter((one) => one !== 'create' || !hasFewPerOrganization(module));
      const isCreated = mutate.includes('create');
      const existing = isCreated ? undefined : (await fixtures.record(module.kind, 'any')).id;
      const required = isCreated ? await requiredOf(fixtures, module) : [];
      const write = async (by: TestClient, one = existing, wellFormedOnly = false) =>
        fuzzWrites(by, { ...module, mutate }, (place) => texts.make(place), {
          existing: one,
          required,
          wellFormedOnly,
        });
      const { id, answers } = await write(client);
      if (isCreated) required.splice(0, required.length, ...(await requiredOf(fixtures, module)));
      expect(answers.filter(isRefused), module.kind).toEqual([]);
      await write(world.client(), id);
      // Failures of ours, with all of it at hand.
      for (const table of [module.table, 'events'])
        await without(table, async () => {
          const failed = await write(client, id, true);
          expect(failed.answers.every(isRefused), `${module.kind} without ${table}`).toBe(true);
        });
    }
    await withMisfit('notes', 'text', async () => {
      await fuzzWrites(client, note, (place) => texts.make(`misfit ${place}`));
    });
    await settled();
  });

  test('is in records and their history only', async () => {
    const own = new Set(['public.history', ...writtenKinds.map(({ table }) => `public.${table}`)]);
    for (const [table, rows] of await databaseDump(world)) {
      const found = texts.in(rows.join('\n'));
      if (own.has(table)) expect(found, table).not.toEqual([]);
      else expect(found, table).toEqual([]);
    }
  });

  test('is in no log line', () => {
    expect(world.logs.some(({ level }) => level === 'error')).toBe(true);
    expect(logged(texts)).toEqual([]);
  });

  test('is in no workflow', async () => {
    expect(await inWorkflows(texts)).toEqual([]);
  });

  test('is in no metric', async () => {
    expect(await inMetrics(texts)).toEqual([]);
  });
});
