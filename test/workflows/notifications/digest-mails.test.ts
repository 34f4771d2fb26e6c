import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
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
