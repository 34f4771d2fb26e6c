import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { pino } from 'pino';
import { createEmailActivities } from '#activities/email/email-activities.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { DueItem } from '#entities/kit/due-work/define-due-work.ts';
import { digestsDue } from '#entities/notifications/digests-due.ts';
import { sendingsDue } from '#entities/notifications/sendings-due.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { FakeProviderB } from '../../kit/fakes/fake-provider-b.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { waitForRuns } from '../../kit/runs.ts';
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
const people = 3;

let world: World;
/** The one that does not recognize a repeated request. */
let provider: FakeProviderB;
beforeAll(async () => {
  provider = await FakeProviderB.start();
  world = await openWorld({
    worker: true,
    environment: {
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providerb',
      CORE_INTEGRATIONS_EMAIL_PROVIDERB_SERVERTOKEN: provider.serverToken,
    },
    emailProviders: { urls: { providerb: provider.url }, askAfterMs: 0 },
  });
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

let day = 0;
let told: Teller[];
beforeEach(async () => {
  // Noon of a day of its own; the digests of the people are due on the next morning.
  day += 40;
  await setClock(world, new Date(Date.parse('2026-12-01T12:00:00Z') + day * dayMs).toISOString());
  const { owner } = await ownerAndMember(world);
  told = await Promise.all(
    Array.from({ length: people }, async (_none, n) => {
      const person = await buildPerson(world, { organization: owner.person.organization, role: 'member' });
      const client = await signedIn(world, person);
      await prefer(client, { channel: 'email', cadence: 'daily' });
      await assign(owner.client, person, `task of ${n}`);
      return { person, client };
    }),
  );
  await allSent(world);
  const today = world.clock.now().toISOString().slice(0, 10);
  await setClock(world, new Date(Date.parse(`${today}T08:00:00Z`) + dayMs).toISOString());
});
afterEach(() => armFailpoints([]));

/** Texts of the mails to each of the people. */
const texts = () =>
  told.map(({ person }) => provider.accepted.filter(({ To }) => To === person.user.email).map((mail) => mail.TextBody));

const digests = () =>
  asOwner<{ key: string; status: string }>(
    world,
    `select key, status from emails where template = 'digest' and recipient_id = any($1) order by status`,
    [told.map(({ person }) => person.user.id)],
  );

test('a digest is a mail of its own, with what its recipient is told and nobody else', async () => {
  expect(await sendDue(world)).toMatchObject({ due: people, single: 0, digests: people });
  await allSent(world);
  for (const [n, own] of texts().entries()) {
    expect(own).toEqual([expect.stringContaining(`task of ${n}`)]);
    for (const other of told.keys()) if (other !== n) expect(own[0]).not.toContain(`task of ${other}`);
  }
  const runs = await waitForRuns(world, `WorkflowType = "sendEmail" AND ExecutionStatus = "Completed"`, people);
  const ids = runs.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining((await digests()).map(({ key }) => `email/${key}`)));
});

test('a digest that fails is a failed workflow, and the digests of others are sent', async () => {
  provider.next.push('refuse');
  await sendDue(world);
  await allSent(world);
  const [failed, ...others] = await digests();
  expect([failed, ...others].map((mail) => mail?.status)).toEqual(['failed', 'sent', 'sent']);
  expect(texts().flat()).toHaveLength(people - 1);
  const runs = await waitForRuns(world, `WorkflowType = "sendEmail" AND ExecutionStatus = "Failed"`, 1);
  expect(runs.map(({ id }) => id)).toEqual([`email/${failed?.key}`]);
});

test.each(['notifications-claimed', 'email-before-send', 'email-accepted'] as const)(
  'digests are sent once when the process dies at %s',
  async (name) => {
    armFailpoints([{ name, action: 'throw', after: 0 }]);
    const run = sendDue(world);
    if (name === 'notifications-claimed') await expect(run).rejects.toThrow();
    else await run.then(() => expect.poll(digests).toMatchObject(told.map(() => ({ status: 'sending' }))));
    armFailpoints([]);
    // What was claimed, and not begun, is taken up again after a quarter of an hour.
    world.clock.advance(15 * 60_000);
    await sendDue(world);
    await allSent(world);
    expect(texts().map((own) => own.length)).toEqual(told.map(() => 1));
    expect((await digests()).map(({ status }) => status)).toEqual(told.map(() => 'sent'));
  },
);

test('due work whose e-mail is outdated or given up before anything was made is not begun again', async () => {
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  await sendDue(world);
  const ids = told.map(({ person }) => person.user.id);
  const [gone, given, single] = await asOwner<DueItem>(
    world,
    `select id as key, organization_id as owner, user_id, round from notification_digests where user_id = any($1) and state = 'claimed'`,
    [ids],
  );
  if (!gone || !given || !single) throw new Error('there are no digests');
  const [planned] = await asOwner<DueItem>(
    world,
    `update notification_sendings set state = 'planned', digest_id = null, due_at = $2 where digest_id = $1
     returning notification_id as key, organization_id as owner, user_id, round, is_urgent`,
    [single.key, world.clock.now()],
  );
  if (!planned) throw new Error('there is no sending');
  const { config, runtime } = world;
  const activities = createEmailActivities({
    config,
    database: runtime.database,
    temporal: runtime.temporal,
    logger: pino({ enabled: false }),
    emailProviders: {},
  });
  const queue = { taskQueue: 'email' } as unknown as SendEmailInput['queue'];
  const userId = newId();
  // Nobody has this id: the row of the person is gone.
  expect(await activities.deliverEmail({ ...digestsDue.input(gone), userId, queue } as SendEmailInput)).toBe(
    'outdated',
  );
  expect(await activities.deliverEmail({ ...sendingsDue.input(planned), userId, queue } as SendEmailInput)).toBe(
    'outdated',
  );
  for (const digest of [given, single])
    await activities.giveUpEmail({ ...digestsDue.input(digest), queue } as SendEmailInput);
  const states = await asOwner<{ id: string; state: string }>(
    world,
    `select id, state from notification_digests where id = any($1)
     union all select notification_id, state from notification_sendings where notification_id = $2`,
    [[gone.key, given.key, single.key], planned.key],
  );
  expect(new Map(states.map(({ id, state }) => [id, state]))).toEqual(
    new Map([
      [gone.key, 'empty'],
      [given.key, 'empty'],
      [single.key, 'empty'],
      [planned.key, 'dropped'],
    ]),
  );
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: undefined });
});
