import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { reconcileWork } from '#activities/maintenance/reconcile-work.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { gatheredMs } from '#entities/notifications/notification-sending-rows.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { listFailingWork } from '#entities/kit/outbox/failing-work-list.ts';
import { WorkRepairs } from '#runtime/work-repairs.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { FakeProviderA } from '../../kit/fakes/fake-provider-a.ts';
import { FakeProviderB } from '../../kit/fakes/fake-provider-b.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let a: FakeProviderA;
let b: FakeProviderB;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  [a, b] = [await FakeProviderA.start(), await FakeProviderB.start()];
  world = await openWorld({
    worker: true,
    environment: {
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40),
      ...settingsOf('providera'),
    },
    emailProviders: {
      urls: { providera: a.url, providerb: b.url },
      timeoutMs: 500,
      askAfterMs: 0,
      operatorPauseMs: 500,
    },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(async () => {
  await world.close();
  await Promise.all([a.close(), b.close()]);
});
beforeEach(() => {
  for (const fake of [a, b]) fake.behaviour = 'accept';
});

function settingsOf(provider: 'providera' | 'providerb'): Record<string, string> {
  return {
    CORE_INTEGRATIONS_EMAIL_PROVIDER: provider,
    CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY: a.apiKey,
    CORE_INTEGRATIONS_EMAIL_PROVIDERB_SERVERTOKEN: b.serverToken,
  };
}

/** Invites somebody; the mail of it is the one to look at. */
async function invite(recipient = `invited-${newId().toLowerCase()}@example.com`): Promise<string> {
  const answer = await client.post('/v1/invites', { recipient });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

/** The mail about a record as managers see it, once it is in one of these statuses. */
function mailAbout(id: string, ...statuses: string[]) {
  return eventually(async () => {
    const { body } = await client.get(`/v1/emails?about_id=${id}`);
    const [mail] = body.data;
    return mail && statuses.includes(mail.status) && mail;
  });
}

const fakes = { providera: () => a, providerb: () => b } as const;
const toOf = (mail: object) => ('to' in mail ? mail.to : [(mail as { readonly To: string }).To]);
const acceptedFor = (name: keyof typeof fakes, address: string) =>
  fakes[name]().accepted.filter((mail) => (toOf(mail) as readonly string[]).includes(address));

describe.each(['providera', 'providerb'] as const)('%s', (name) => {
  beforeAll(async () => {
    expect((await world.reconfigure(settingsOf(name))).outcome).not.toBe('refused');
  });

  test('is given a mail once, and managers see that it was sent', async () => {
    shows('integrations.email.provider');
    const to = `${newId().toLowerCase()}@example.com`;
    const mail = await mailAbout(await invite(to), 'sent');
    expect(mail).toMatchObject({ template: 'invite', carrier: name, attempts: 1, error_code: null });
    const [accepted, ...others] = acceptedFor(name, to);
    expect(others).toEqual([]);
    expect(JSON.stringify(accepted)).toContain(mail.id);
    expect([(accepted as { id?: string }).id, (accepted as { MessageID?: string }).MessageID]).toContain(
      mail.message_id,
    );
    const [row] = await asOwner(world, 'select content from emails where id = $1', [mail.id]);
    expect(row).toEqual({ content: null });
  });

  test.each(['accept-silently', 'accept-and-cut', 'accept-with-page'] as const)(
    'that accepts a mail and does not say so (%s) is asked, and sent nothing again',
    async (behaviour) => {
      fakes[name]().next.push(behaviour);
      const to = `${newId().toLowerCase()}@example.com`;
      const mail = await mailAbout(await invite(to), 'sent');
      expect(acceptedFor(name, to)).toHaveLength(1);
      expect(fakes[name]().bodies.filter((body) => body.includes(to))).toHaveLength(1);
      expect(mail.message_id).not.toBeNull();
    },
  );

  test('that has accepted a mail is asked after a crash that came before it was recorded', async () => {
    armFailpoints([{ name: 'email-accepted', action: 'throw', after: 0 }]);
    const to = `${newId().toLowerCase()}@example.com`;
    const id = await invite(to);
    await eventually(() => acceptedFor(name, to).length === 1);
    await mailAbout(id, 'sending');
    armFailpoints([]);
    await mailAbout(id, 'sent');
    expect(acceptedFor(name, to)).toHaveLength(1);
    expect(fakes[name]().bodies.filter((body) => body.includes(to))).toHaveLength(1);
  });

  test('that gives no answer and has accepted nothing gets the same bytes again', async () => {
    fakes[name]().next.push('silent', 'fail');
    const to = `${newId().toLowerCase()}@example.com`;
    const mail = await mailAbout(await invite(to), 'sent');
    const bodies = fakes[name]().bodies.filter((body) => body.includes(to));
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
    expect(acceptedFor(name, to)).toHaveLength(1);
    expect(mail.attempts).toBe(3);
  });

  test('that has too much to do gets nothing until it is ready', async () => {
    fakes[name]().next.push('limit');
    const first = await invite();
    const limited = await mailAbout(first, 'waiting');
    expect(limited).toMatchObject({ error_code: 'too_many_requests' });
    const before = fakes[name]().bodies.length;
    const second = await invite();
    await mailAbout(first, 'sent');
    await mailAbout(second, 'sent');
    expect(fakes[name]().bodies.length).toBe(before + 2);
  });

  test('that refuses the address ends the mail at once, and the address is suppressed', async () => {
    const to = `${newId().toLowerCase()}@refused.example`;
    const mail = await mailAbout(await invite(to), 'refused');
    expect(mail).toMatchObject({ error_code: 'address_refused', attempts: 1 });
    const { body } = await client.get(`/v1/email-suppressions?email=${encodeURIComponent(to)}`);
    expect(body.data).toEqual([expect.objectContaining({ email: to, reason: 'refused', email_id: mail.id })]);
  });

  test('that refuses the content ends the mail as failed work, without address and content, and it can be sent again', async () => {
    fakes[name]().behaviour = 'refuse';
    const to = `${newId().toLowerCase()}@example.com`;
    const id = await invite(to);
    expect(await mailAbout(id, 'failed')).toMatchObject({ error_code: 'content_refused', attempts: 1 });
    const { database, temporal } = world.runtime;
    const [work] = await eventually(async () => {
      await reconcileWork({ database, temporal, logger: pino({ enabled: false }) });
      const found = await database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
        listFailingWork(unit, { kind: 'email' }, { limit: 10 }),
      );
      return found.length > 0 && found;
    });
    const code = name === 'providera' ? '422' : '300';
    expect(work).toMatchObject({ status: 'failed', error: `FAILED: ${name} rejects the e-mail (code ${code}).` });
    fakes[name]().behaviour = 'accept';
    await new WorkRepairs(world.runtime).do('retry', work?.id ?? '', { operator: 'test', reason: 'mended' });
    await mailAbout(id, 'sent');
    expect(acceptedFor(name, to)).toHaveLength(1);
  });

  test('that refuses the key makes mails wait where managers see it, until the configuration has another', async () => {
    shows('integrations.email.providera.apikey', 'integrations.email.providerb.servertoken');
    const [leaf, right] =
      name === 'providera'
        ? ['CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY', a.apiKey]
        : ['CORE_INTEGRATIONS_EMAIL_PROVIDERB_SERVERTOKEN', b.serverToken];
    await world.reconfigure({ [leaf]: 'a wrong one' });
    const id = await invite();
    const waiting = await mailAbout(id, 'waiting');
    expect(waiting).toMatchObject({ error_code: 'credentials_refused' });
    expect(world.logs.some((line) => line['msg'] === 'the e-mail provider refuses our requests')).toBe(true);
    await world.reconfigure({ [leaf]: right });
    expect(await mailAbout(id, 'sent')).toMatchObject({ error_code: null, carrier: name });
  });
});

test('messagestream, trackopens and tracklinks are in requests to providerb, except tracking of mails with a token', async () => {
  shows(
    'integrations.email.providerb.messagestream',
    'integrations.email.providerb.trackopens',
    'integrations.email.providerb.tracklinks',
  );
  await world.reconfigure({
    ...settingsOf('providerb'),
    CORE_INTEGRATIONS_EMAIL_PROVIDERB_MESSAGESTREAM: 'alerts',
    CORE_INTEGRATIONS_EMAIL_PROVIDERB_TRACKOPENS: 'true',
    CORE_INTEGRATIONS_EMAIL_PROVIDERB_TRACKLINKS: 'HtmlAndText',
  });
  const to = `${newId().toLowerCase()}@example.com`;
  await mailAbout(await invite(to), 'sent');
  const withToken = b.accepted.find(({ To }) => To === to);
  expect(withToken).toMatchObject({ MessageStream: 'alerts', TrackOpens: false, TrackLinks: 'None' });
  const token = await client.post('/v1/api-tokens', { name: 'program', scopes: ['task:read'] });
  expect(token, JSON.stringify(token.body)).toMatchObject({ status: 201 });
  await mailAbout(token.body.id, 'sent');
  const notice = b.accepted.findLast(({ To }) => To === owner.user.email);
  expect(notice).toMatchObject({ MessageStream: 'alerts', TrackOpens: true, TrackLinks: 'HtmlAndText' });
});

test('a mail that waits goes to no address that was suppressed meanwhile, whatever the address of the person is by then', async () => {
  await world.reconfigure({ ...settingsOf('providera'), CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY: 'a wrong one' });
  const { user } = await buildPerson(world, { organization: owner.organization, role: 'member' });
  expect((await client.post('/v1/tasks', { title: 'told of', assignee_id: user.id })).status).toBe(201);
  const until = (status: string) =>
    eventually(async () => {
      const [row] = await asOwner(world, 'select status, error_code from emails where recipient_id = $1', [user.id]);
      return row?.['status'] === status && row;
    });
  // Before that, its notification is gathered with others.
  await eventually(
    async () => (await asOwner(world, 'select 1 from notification_sendings where user_id = $1', [user.id])).length > 0,
  );
  world.clock.advance(gatheredMs);
  await until('waiting');
  expect((await client.post('/v1/email-suppressions', { email: user.email })).status).toBe(201);
  await asOwner(world, 'update users set email = $2 where id = $1', [user.id, `new-${user.email}`]);
  await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY: a.apiKey });
  expect(await until('suppressed')).toMatchObject({ error_code: 'manual' });
  expect(acceptedFor('providera', user.email)).toEqual([]);
});

test('a mail that is read by a stranger of the organization, or sent again by one, does not exist for them', async () => {
  const id = await invite();
  const mail = await mailAbout(id, 'sent');
  const stranger = await signedIn(world, await buildPerson(world));
  const member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  for (const other of [stranger, member]) {
    expectProblem(await other.get(`/v1/emails/${mail.id}`), 'not_found');
    expectProblem(await other.post(`/v1/emails/${mail.id}/resend`), 'not_found');
    expect((await other.get('/v1/emails')).body.data).toEqual([]);
  }
});

test('managers have a mail sent again as a further one, up to five times a day', async () => {
  const to = `${newId().toLowerCase()}@example.com`;
  const mail = await mailAbout(await invite(to), 'sent');
  for (let time = 1; time <= 5; time++)
    expect((await client.post(`/v1/emails/${mail.id}/resend`)).status, String(time)).toBe(202);
  expectProblem(await client.post(`/v1/emails/${mail.id}/resend`), 'too_many_requests');
  const mails = await eventually(async () => {
    const { body } = await client.get(`/v1/emails?about_id=${mail.about_id}&status=sent`);
    return body.data.length === 6 && body.data;
  });
  expect(new Set(mails.map(({ message_id: id }: { message_id: string }) => id)).size).toBe(6);
  expect((await client.get(`/v1/emails/${mail.id}`)).body.resent_at).not.toBeNull();
});

test('e-mails about accounts are recorded, and seen by nobody', async () => {
  const to = `${newId().toLowerCase()}@example.com`;
  await world.client().post('/v1/register', { email: to, password: 'correct horse battery' });
  await eventually(async () => {
    const rows = await asOwner(
      world,
      `select 1 from account_emails where template = 'verify-address' and status = 'sent'`,
    );
    return rows.length === 1;
  });
  expect(JSON.stringify((await client.get('/v1/emails?first=100')).body)).not.toContain('verify-address');
});
