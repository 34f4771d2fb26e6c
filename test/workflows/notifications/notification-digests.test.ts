// Left to npm run prove; npm test has test/workflows/notifications/digest-mails.test.ts.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { claimDue } from '#activities/notifications/claim-due.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { FakeProviderA } from '../../kit/fakes/fake-provider-a.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import {
  allSent,
  assign,
  ownerAndMember,
  prefer,
  sendDue,
  sendingsOf,
  setClock,
  type Teller,
} from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;

let world: World;
let provider: FakeProviderA;
let owner: Teller;
let member: Teller;

beforeAll(async () => {
  provider = await FakeProviderA.start();
  world = await openWorld({
    worker: true,
    environment: {
      CORE_ORMCONFIG_NOTIFICATIONS_CONSOLEURL: 'https://console.example.com',
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providera',
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY: provider.apiKey,
    },
    emailProviders: { urls: { providera: provider.url }, timeoutMs: 500, askAfterMs: 0, operatorPauseMs: 500 },
  });
});
afterAll(async () => {
  await world.close();
  await provider.close();
});
afterEach(() => {
  armFailpoints([]);
  provider.behaviour = 'accept';
  provider.next.length = 0;
});

let day = 0;
beforeEach(async () => {
  // Noon of a day of its own, far enough from the others that nothing of them is due.
  day += 40;
  await setClock(world, new Date(Date.parse('2026-12-01T12:00:00Z') + day * dayMs).toISOString());
  ({ owner, member } = await ownerAndMember(world));
  await prefer(member.client, { channel: 'email', cadence: 'daily' });
});

const mailsTo = ({ person }: Teller) => provider.accepted.filter(({ to }) => to.includes(person.user.email));

async function sent(to = member) {
  await allSent(world);
  return mailsTo(to);
}

/** The next time at which a digest is sent, after everything until now was told. Sessions have ended by then. */
async function nextMorning(): Promise<void> {
  await allSent(world);
  const today = world.clock.now().toISOString().slice(0, 10);
  await setClock(world, new Date(Date.parse(`${today}T08:00:00Z`) + dayMs).toISOString());
  owner = { ...owner, client: await signedIn(world, owner.person) };
}

const digestsOf = ({ person }: Teller) =>
  asOwner<{ state: string; cadence: string; period: string; round: number }>(
    world,
    'select state, cadence, period, round from notification_digests where user_id = $1 order by id',
    [person.user.id],
  );

describe('a digest', () => {
  test('has what came since the last one, once, the newest first; and later ones have what comes later', async () => {
    const first = await assign(owner.client, member.person, 'first');
    await allSent(world);
    await assign(owner.client, member.person, 'second');
    expect(await sent()).toEqual([]);
    await sendDue(world);
    expect(await sent()).toEqual([]);
    await nextMorning();
    expect(await sendDue(world)).toMatchObject({ due: 2, single: 0, digests: 1 });
    const [mail, ...more] = await sent();
    expect(more).toEqual([]);
    expect(mail?.subject).toBe('2 tasks were assigned to you');
    expect(mail?.text).toMatch(/: second[^]*: first/);
    expect(mail?.text).toContain(`https://console.example.com/tasks/${first}`);
    expect(mail?.headers).toMatchObject({ 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' });
    expect(await sendDue(world)).toMatchObject({ due: 0, digests: 0 });
    await assign(owner.client, member.person, 'third');
    await sendDue(world);
    expect(await sent()).toHaveLength(1);
    await nextMorning();
    await sendDue(world);
    const [, next, ...others] = await sent();
    expect(others).toEqual([]);
    expect(next?.text).toContain(': third');
    expect(next?.text).not.toContain(': second');
    expect(await digestsOf(member)).toMatchObject([{ state: 'sent' }, { state: 'sent' }]);
  });

  test('leaves out what was read, and what its recipient may no longer see', async () => {
    const read = await assign(owner.client, member.person, 'already read');
    const lost = await assign(owner.client, member.person, 'secret plan');
    await assign(owner.client, member.person, 'still theirs');
    await allSent(world);
    const { body } = await member.client.get(`/v1/notifications?target_id=${read}`);
    const url = `/v1/notifications/${body.data[0].id}`;
    await member.client.mutate({ method: 'PATCH', url, payload: { is_read: true } });
    await owner.client.mutate({ method: 'PATCH', url: `/v1/tasks/${lost}`, payload: { assignee_id: null } });
    await nextMorning();
    await sendDue(world);
    const [mail] = await sent();
    expect(mail?.text).toContain('still theirs');
    for (const hidden of ['already read', 'secret plan', lost]) {
      expect(mail?.text).not.toContain(hidden);
      expect(mail?.html).not.toContain(hidden);
    }
  });

  test('of which nothing is left is not sent', async () => {
    const lost = await assign(owner.client, member.person, 'secret plan');
    await allSent(world);
    await owner.client.mutate({ method: 'PATCH', url: `/v1/tasks/${lost}`, payload: { assignee_id: null } });
    await nextMorning();
    await sendDue(world);
    expect(await sent()).toEqual([]);
    expect(await digestsOf(member)).toMatchObject([{ state: 'empty' }]);
  });

  test('tells of older ones where nothing of the newest is left', async () => {
    await assign(owner.client, member.person, 'still theirs');
    await allSent(world);
    // As if 200 newer ones had been hidden with their records.
    await asOwner(
      world,
      `insert into notification_sendings (notification_id, channel, organization_id, user_id, topic, is_default, is_urgent, state, round,
         due_at, told_at, updated_at)
       select overlay(s.notification_id placing lpad(n::text, 4, '0') from 23), s.channel, s.organization_id, s.user_id, s.topic, s.is_default,
         s.is_urgent, s.state, s.round, s.due_at, s.told_at, s.updated_at
       from notification_sendings s, generate_series(0, 199) n where s.user_id = $1`,
      [member.person.user.id],
    );
    await asOwner(
      world,
      `update notification_sendings set notification_id = overlay(notification_id placing 'Z' from 22)
       where user_id = $1 and notification_id not in (select id from notifications)`,
      [member.person.user.id],
    );
    await nextMorning();
    await sendDue(world);
    const [mail] = await sent();
    expect(mail?.text).toContain('still theirs');
  });

  test('whose mail waits for the provider is made anew where a right is lost meanwhile', async () => {
    provider.behaviour = 'limit';
    const lost = await assign(owner.client, member.person, 'secret plan');
    await assign(owner.client, member.person, 'still theirs');
    await allSent(world);
    await nextMorning();
    await sendDue(world);
    await eventually(async () => {
      const { body } = await (await signedIn(world, owner.person)).get('/v1/emails?template=digest&status=waiting');
      return body.data.length === 1;
    });
    const again = await signedIn(world, owner.person);
    await again.mutate({ method: 'PATCH', url: `/v1/tasks/${lost}`, payload: { assignee_id: null } });
    provider.behaviour = 'accept';
    const [mail, ...more] = await sent();
    expect(more).toEqual([]);
    expect(mail?.text).toContain('still theirs');
    expect(mail?.text).not.toContain('secret plan');
    expect(await digestsOf(member)).toMatchObject([{ state: 'sent', round: 2 }]);
  });

  test('has nothing that was also sent at once, whatever the preference was in between', async () => {
    await assign(owner.client, member.person, 'collected');
    await allSent(world);
    const { body } = await member.client.get('/v1/notification-preferences');
    const url = `/v1/notification-preferences/${body.data[0].id}`;
    await member.client.mutate({ method: 'PATCH', url, payload: { cadence: 'immediate' } });
    await assign(owner.client, member.person, 'at once');
    expect((await sent()).map(({ text }) => text.includes('at once'))).toEqual([true]);
    await member.client.mutate({ method: 'PATCH', url, payload: { cadence: 'daily' } });
    await nextMorning();
    await sendDue(world);
    const [, digest, ...more] = await sent();
    expect(more).toEqual([]);
    expect(digest?.text).toContain('collected');
    expect(digest?.text).not.toContain('at once');
  });

  test('is one for each organization, and weekly and monthly ones wait for their day', async () => {
    const other = await ownerAndMember(world);
    const { user } = member.person;
    const both = await buildPerson(world, { organization: owner.person.organization, role: 'member' });
    await assign(owner.client, both, 'at once');
    await prefer(other.member.client, { channel: 'email', cadence: 'weekly' });
    await assign(owner.client, member.person, 'daily');
    await assign(other.owner.client, other.member.person, 'weekly');
    await nextMorning();
    await sendDue(world);
    expect(await sent()).toHaveLength(1);
    expect(await sent({ person: both, client: member.client })).toHaveLength(1);
    const isMonday = world.clock.now().getUTCDay() === 1;
    expect(await sent(other.member)).toHaveLength(isMonday ? 1 : 0);
    for (let days = 0; days < 7; days++) {
      await nextMorning();
      await sendDue(world);
    }
    expect(await sent(other.member)).toHaveLength(1);
    const [weekly] = await digestsOf(other.member);
    expect(new Date(`${weekly?.period}T00:00:00Z`).getUTCDay()).toBe(1);
    expect(await asOwner(world, 'select 1 from notification_digests where user_id = $1', [user.id])).toHaveLength(1);
  });
});

describe('a claim of digests', () => {
  test('of many at once give nobody two digests', async () => {
    const people = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const person = await buildPerson(world, { organization: owner.person.organization, role: 'member' });
        const client = await signedIn(world, person);
        await prefer(client, { channel: 'email', cadence: 'daily' });
        for (const title of ['a', 'b', 'c']) await assign(owner.client, person, title);
        return { person, client };
      }),
    );
    await allSent(world);
    await nextMorning();
    const claim = () =>
      world.runtime.database.transact(
        { caller: systemCaller('test'), requestId: `claim-${newId()}` },
        async (unit) => (await claimDue(unit)).digests,
      );
    await Promise.all(Array.from({ length: 8 }, claim));
    const made = await asOwner<{ user: string }>(
      world,
      'select user_id as user from notification_digests where organization_id = $1 and user_id = any($2)',
      [owner.person.organization.id, people.map(({ person }) => person.user.id)],
    );
    expect(made).toHaveLength(people.length);
    expect(new Set(made.map(({ user }) => user)).size).toBe(people.length);
    const rows = await asOwner<{ count: number }>(
      world,
      `select count(*)::int as count from notification_sendings s join notification_digests d on d.id = s.digest_id
       where s.organization_id = $1 group by d.id`,
      [owner.person.organization.id],
    );
    expect(rows.map(({ count }) => count)).toEqual(people.map(() => 3));
    // Whoever made them started nothing: they are due work.
    expect(await sendDue(world)).toMatchObject({ digests: 0 });
    for (const one of people) expect(await sent(one)).toHaveLength(1);
  });

  test('after which the process dies are taken up again, and each is sent once', async () => {
    await assign(owner.client, member.person, 'kept');
    await allSent(world);
    await nextMorning();
    armFailpoints([{ name: 'notifications-claimed', action: 'throw', after: 0 }]);
    await expect(sendDue(world)).rejects.toThrow();
    armFailpoints([]);
    expect(await digestsOf(member)).toHaveLength(1);
    await sendDue(world);
    expect(await sent()).toHaveLength(1);
  });

  test('that come after the digest of a period leave it, and wait for the next', async () => {
    await assign(owner.client, member.person, 'in time');
    await allSent(world);
    await nextMorning();
    await sendDue(world);
    // Told before the digest, and delivered after it, as by a listener that had to wait.
    const late = await assign(owner.client, member.person, 'late');
    await allSent(world);
    await asOwner(
      world,
      `update notification_sendings set due_at = $2::timestamptz, told_at = $2::timestamptz - interval '1 hour'
       where notification_id = (select id from notifications where target_id = $1)`,
      [late, world.clock.now()],
    );
    await sendDue(world);
    expect(await sent()).toHaveLength(1);
    const tomorrow = new Date(world.clock.now().getTime() + dayMs);
    expect(await sendingsOf(world, member.person)).toMatchObject([
      { state: 'collected' },
      { state: 'due', due_at: tomorrow },
    ]);
    await nextMorning();
    await sendDue(world);
    expect(await sent()).toHaveLength(2);
  });
});
