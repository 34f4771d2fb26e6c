import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { settleDigests } from '#activities/listeners/notifications/settle-digests.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { FakeProviderA } from '../../kit/fakes/fake-provider-a.ts';
import { FakeProviderB } from '../../kit/fakes/fake-provider-b.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { runsOf, type Run } from '../../kit/runs.ts';
import {
  allSent,
  assign,
  ownerAndMember,
  prefer,
  sendDue,
  setClock,
  type Teller,
} from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;

let world: World;
let a: FakeProviderA;
let b: FakeProviderB;
beforeAll(async () => {
  a = await FakeProviderA.start();
  b = await FakeProviderB.start();
  world = await openWorld({
    worker: true,
    environment: {
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providera',
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY: a.apiKey,
      CORE_INTEGRATIONS_EMAIL_PROVIDERB_SERVERTOKEN: b.serverToken,
    },
    emailProviders: {
      urls: { providera: a.url, providerb: b.url },
      timeoutMs: 500,
      askAfterMs: 0,
      operatorPauseMs: 500,
    },
  });
});
afterAll(async () => {
  await world.close();
  await Promise.all([a.close(), b.close()]);
});
afterEach(() => {
  armFailpoints([]);
  for (const fake of [a, b]) {
    fake.behaviour = 'accept';
    fake.refusesContent = false;
    fake.next.length = 0;
  }
});

let day = 0;
let owner: Teller;
beforeEach(async () => {
  // Noon of a day of its own, far enough from the others that nothing of them is due.
  day += 40;
  await setClock(world, new Date(Date.parse('2026-12-01T12:00:00Z') + day * dayMs).toISOString());
  ({ owner } = await ownerAndMember(world));
});

/** People to each of whom a task is given, and who are told of it on the next morning, which it is afterwards. */
async function people(count: number): Promise<Teller[]> {
  const made: Teller[] = [];
  for (let n = 0; n < count; n++) {
    const person = await buildPerson(world, { organization: owner.person.organization, role: 'member' });
    const client = await signedIn(world, person);
    await prefer(client, { channel: 'email', cadence: 'daily' });
    await assign(owner.client, person, `task of ${n}`);
    made.push({ person, client });
  }
  await allSent(world);
  const today = world.clock.now().toISOString().slice(0, 10);
  await setClock(world, new Date(Date.parse(`${today}T08:00:00Z`) + dayMs).toISOString());
  return made;
}

/** Texts of the mails to each of these people, and the paths of all requests that were to send one of them. */
function sentBy(fake: FakeProviderA | FakeProviderB, to: readonly Teller[]) {
  const mails =
    fake instanceof FakeProviderA
      ? fake.accepted.map((mail) => ({ to: mail.to[0], text: mail.text }))
      : fake.accepted.map((mail) => ({ to: mail.To, text: mail.TextBody }));
  const addresses = to.map(({ person }) => person.user.email);
  return {
    texts: addresses.map((address) => mails.filter((mail) => mail.to === address).map(({ text }) => text)),
    requests: fake.requests
      .filter(({ method, body }) => method === 'POST' && addresses.some((address) => body.includes(address)))
      .map(({ path }) => path),
  };
}

const isFailed = ({ status }: Run) => status === 'FAILED';

const statesOf = async ({ person }: Teller) =>
  (
    await asOwner<{ status: string }>(
      world,
      `select status from emails where recipient_id = $1 and template = 'digest'`,
      [person.user.id],
    )
  ).map(({ status }) => status);

describe.each([
  { carrier: 'providera', path: '/emails/batch', alone: '/emails' },
  { carrier: 'providerb', path: '/email/batch', alone: '/email' },
] as const)('digests of many people ($carrier)', ({ carrier, path, alone }) => {
  const fakeOf = () => (carrier === 'providera' ? a : b);
  beforeAll(() => world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDER: carrier }));

  test('are sent in one request, each with what its recipient is told', async () => {
    const told = await people(4);
    await sendDue(world);
    await allSent(world);
    const { texts, requests } = sentBy(fakeOf(), told);
    expect(requests).toEqual([path]);
    for (const [n, own] of texts.entries()) {
      expect(own).toHaveLength(1);
      expect(own[0]).toContain(`task of ${n}`);
      for (const other of told.keys()) if (other !== n) expect(own[0]).not.toContain(`task of ${other}`);
    }
    for (const one of told) expect(await statesOf(one)).toEqual(['sent']);
  });

  test('of which one address is refused reach the others', async () => {
    const told = await people(3);
    const [refused] = told as [Teller];
    const address = `${newId().toLowerCase()}@refused.example`;
    await asOwner(world, 'update users set email = $2 where id = $1', [refused.person.user.id, address]);
    await sendDue(world);
    await allSent(world);
    const { texts } = sentBy(fakeOf(), told);
    expect(texts.map((own) => own.length)).toEqual([0, 1, 1]);
    expect(await statesOf(refused)).toEqual(['refused']);
    const suppressed = await asOwner(world, `select reason from email_suppressions where email = $1`, [address]);
    expect(suppressed).toEqual([{ reason: 'refused' }]);
  });

  test('whose content is refused fail in a workflow each, where operators see them', async () => {
    const told = await people(2);
    fakeOf().refusesContent = true;
    await sendDue(world);
    await allSent(world);
    for (const one of told) expect(await statesOf(one)).toEqual(['failed']);
    expect(sentBy(fakeOf(), told).requests).toEqual([path, alone, alone]);
    const keys = await asOwner<{ key: string }>(
      world,
      `select key from emails where recipient_id = any($1) and template = 'digest' and error_code = 'content_refused'`,
      [told.map(({ person }) => person.user.id)],
    );
    expect(keys).toHaveLength(2);
    await eventually(async () => {
      const failed = new Set((await runsOf(world, `WorkflowType = "sendEmail"`)).filter(isFailed).map(({ id }) => id));
      return keys.every(({ key }) => failed.has(`email/${key}`));
    });
  });

  test('are sent again together after too many requests', async () => {
    const told = await people(3);
    fakeOf().next.push('limit', 'limit');
    await sendDue(world);
    await allSent(world);
    const { texts, requests } = sentBy(fakeOf(), told);
    expect(requests).toEqual([path, path, path]);
    expect(texts.map((own) => own.length)).toEqual([1, 1, 1]);
  });

  test('of which nobody knows whether they were accepted are asked about one by one, and sent once', async () => {
    const told = await people(3);
    fakeOf().next.push('accept-silently');
    await sendDue(world);
    await allSent(world);
    const { texts, requests } = sentBy(fakeOf(), told);
    expect(requests).toEqual([path]);
    expect(texts.map((own) => own.length)).toEqual([1, 1, 1]);
    for (const one of told) expect(await statesOf(one)).toEqual(['sent']);
  });

  test('that were not accepted, without an answer that says so, are sent alone', async () => {
    const told = await people(2);
    fakeOf().next.push('fail');
    await sendDue(world);
    await allSent(world);
    const { texts, requests } = sentBy(fakeOf(), told);
    expect(requests).toEqual([path, alone, alone]);
    expect(texts.map((own) => own.length)).toEqual([1, 1]);
  });

  test('are sent once when the process dies before it has recorded that they were accepted', async () => {
    const told = await people(3);
    armFailpoints([{ name: 'email-accepted', action: 'throw', after: 0 }]);
    await sendDue(world);
    for (const one of told) await expect.poll(() => statesOf(one)).toEqual(['sending']);
    armFailpoints([]);
    await allSent(world);
    expect(sentBy(fakeOf(), told).texts.map((own) => own.length)).toEqual([1, 1, 1]);
    for (const one of told) expect(await statesOf(one)).toEqual(['sent']);
  });

  test('leave out whose address gets no e-mails of the organization', async () => {
    const told = await people(3);
    const [first] = told as [Teller];
    const again = await signedIn(world, owner.person);
    const { status } = await again.post('/v1/email-suppressions', { email: first.person.user.email });
    expect(status).toBe(201);
    await sendDue(world);
    await allSent(world);
    expect(sentBy(fakeOf(), told).texts.map((own) => own.length)).toEqual([0, 1, 1]);
    expect(await statesOf(first)).toEqual(['suppressed']);
  });
});

test('without a provider they wait, and go out when there is one', async () => {
  await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDER: '' });
  const told = await people(2);
  await sendDue(world);
  await expect.poll(() => statesOf(told[0] as Teller), { timeout: 20_000 }).toEqual(['waiting']);
  await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providera' });
  await allSent(world);
  expect(sentBy(a, told).texts.map((own) => own.length)).toEqual([1, 1]);
});

test('the number of statements does not depend on the number of people', async () => {
  await people(2);
  const few = await statementsFor(2);
  owner = { ...owner, client: await signedIn(world, owner.person) };
  await people(14);
  expect(await statementsFor(14)).toBe(few);
});

/** Statements that settle the digests of all who are due now; there are so many. */
async function statementsFor(count: number): Promise<number> {
  // Taken by nobody: it is not sent before its message is started again.
  armFailpoints([{ name: 'notifications-claimed', action: 'throw', after: 0 }]);
  await expect(sendDue(world)).rejects.toThrow();
  armFailpoints([]);
  const digests = await asOwner<{ id: string; round: number }>(
    world,
    `select id, round from notification_digests where state = 'claimed' and organization_id = $1`,
    [owner.person.organization.id],
  );
  expect(digests).toHaveLength(count);
  const caller = systemCaller('test', owner.person.organization.id);
  const needed = await world.runtime.database.transact({ caller, requestId: `settle-${newId()}` }, async (unit) => {
    expect((await settleDigests(unit, digests)).size).toBe(count);
    return unit.statements;
  });
  // Nothing else is told of them.
  await asOwner(world, `update notification_digests set state = 'empty' where state = 'sent' and batch is null`);
  await asOwner(
    world,
    `update notification_sendings set state = 'dropped', digest_id = null where state = 'collected'`,
  );
  return needed;
}

test('one workflow has the digests of a batch', async () => {
  const told = await people(3);
  await sendDue(world);
  await allSent(world);
  const [{ batch } = { batch: '' }] = await asOwner<{ batch: string }>(
    world,
    'select distinct batch from notification_digests where user_id = any($1)',
    [told.map(({ person }) => person.user.id)],
  );
  const runs = await runsOf(world, `WorkflowType = "sendDigests"`);
  expect(runs.map(({ id }) => id)).toContain(`digests/${batch}`);
});
