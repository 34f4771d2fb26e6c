import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { mailsTo } from '../../kit/mailbox.ts';
import {
  allSent,
  assign,
  changeSettings,
  mailsOf,
  ownerAndMember,
  sendDue,
  sendingsOf,
  type Teller,
} from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

const minute = 60_000;

let world: World;
let owner: Teller;
let member: Teller;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ owner, member } = await ownerAndMember(world));
});

const settled = () => eventually(() => isSettled(world));

async function mails(): Promise<string[]> {
  await allSent(world);
  return mailsOf(world, member.person);
}

/** The subject of a mail as it was sent, with its encoded words decoded (RFC 2047). */
function subjectOf(mail: string): string {
  const [, folded = ''] = /^Subject: ((?:\r?\n[ \t]|[^\r\n])*)/m.exec(mail) ?? [];
  const words = folded.replaceAll(/\?=\s+=\?UTF-8\?Q\?/g, '').replaceAll(/=\?UTF-8\?Q\?(.*?)\?=/g, '$1');
  return decodeURIComponent(words.replaceAll('_', ' ').replaceAll(/=([0-9A-F]{2})/g, '%$1'));
}

describe('what comes to a person within a minute', () => {
  test('is one mail with a list, and single entries in the app', async () => {
    for (let n = 1; n <= 12; n++) await assign(owner.client, member.person, `number ${n}`);
    await settled();
    await sendDue(world);
    expect(await mailsOf(world, member.person)).toEqual([]);
    const [mail = '', ...more] = await mails();
    expect(more).toEqual([]);
    expect(mail).toMatch(/^Subject: 12 tasks were assigned to you\r?$/m);
    for (let n = 1; n <= 12; n++) expect(mail).toMatch(new RegExp(`TSK-\\w+: number ${n}\\.`));
    const { body } = await member.client.get('/v1/notifications/inbox?first=50');
    expect(body.unread_count).toBe(12);
  });

  test('of several topics is one mail as well', async () => {
    await assign(owner.client, member.person, 'a task');
    await owner.client.post('/v1/tasks', {
      title: 'b',
      details: `@[x](user:${member.person.user.id})`,
      assignee_id: member.person.user.id,
    });
    const [mail = '', ...more] = await mails();
    expect(more).toEqual([]);
    expect(mail).toMatch(/^Subject: 3 notifications\r?$/m);
  });

  test('is not told where it no longer applies at the end of the minute', async () => {
    const taken = await assign(owner.client, owner.person, 'taken back');
    const give = (assignee: string) =>
      owner.client.mutate({ method: 'PATCH', url: `/v1/tasks/${taken}`, payload: { assignee_id: assignee } });
    await give(member.person.user.id);
    await settled();
    await give(owner.person.user.id);
    expect(await mails()).toEqual([]);
  });

  test('leaves out tasks with which nothing is left to do', async () => {
    await assign(owner.client, member.person, 'still open');
    for (const status of ['completed', 'wont_do'])
      await assign(owner.client, member.person, `imported as ${status}`, { status });
    const [mail = '', ...more] = await mails();
    expect(more).toEqual([]);
    expect(mail).toContain('still open');
    expect(mail).not.toContain('imported as');
  });

  test('and after it makes two mails', async () => {
    await assign(owner.client, member.person, 'one');
    expect(await mails()).toHaveLength(1);
    await assign(owner.client, member.person, 'two');
    expect(await mails()).toHaveLength(2);
  });
});

describe('a request whose events are not all delivered', () => {
  /** An event of the request that told the member of something, as if its listener had to wait. */
  async function withheldEvent(): Promise<void> {
    await asOwner(
      world,
      `insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id, payload, pending,
         batch_id, claimed_at)
       select $2, e.occurred_at, e.topic, e.entity_kind, e.entity_id, e.record_version, e.organization_id, e.actor, e.request_id, e.payload, true,
         $2, now() + interval '1 year'
       from events e join notifications n on n.event_id = e.id where n.user_id = $1`,
      [member.person.user.id, newId()],
    );
  }
  const settle = () =>
    asOwner(world, 'update events set settled_at = now() where settled_at is null and batch_id = id');
  // No listener ever had the invented events.
  afterEach(() => asOwner(world, 'delete from events where batch_id = id'));

  test('makes no mail before they are', async () => {
    await assign(owner.client, member.person, 'one of many');
    await settled();
    await withheldEvent();
    world.clock.advance(2 * minute);
    expect(await sendDue(world)).toMatchObject({ due: 0 });
    await settle();
    // The schedule may have taken it meanwhile.
    await sendDue(world);
    expect(await mails()).toHaveLength(1);
  });

  /** What the request goes on to cause: copies of the first sending that the member has, due now. @returns their ids */
  async function addCopies(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId());
    await asOwner(
      world,
      `insert into notification_sendings (notification_id, channel, organization_id, user_id, topic, is_default, is_urgent, due_at, request_id,
         state, round, told_at, updated_at)
       select copy.id, channel, organization_id, user_id, topic, is_default, is_urgent, $3, request_id, 'due', 1, $3, $3
       from (select * from notification_sendings where user_id = $1 order by notification_id limit 1) as first, unnest($2::text[]) as copy (id)`,
      [member.person.user.id, ids, world.clock.now()],
    );
    return ids;
  }

  test('delays the oldest for a quarter of an hour at most, however long more keep coming', async () => {
    await assign(owner.client, member.person, 'one of many');
    await settled();
    await withheldEvent();
    for (let n = 1; n <= 2; n++) {
      world.clock.advance(7 * minute);
      await addCopies(1);
      expect(await sendDue(world)).toMatchObject({ due: 0 });
    }
    world.clock.advance(2 * minute);
    await addCopies(1);
    expect(await sendDue(world)).toMatchObject({ due: 4 });
    await settle();
    expect(await mails()).toHaveLength(1);
  });

  test('keeps nobody else waiting, however much it has caused for one person', async () => {
    const other = await ownerAndMember(world);
    await assign(owner.client, member.person, 'one of many');
    await assign(other.owner.client, other.member.person, 'for somebody else');
    await settled();
    await withheldEvent();
    const copies = await addCopies(20_000);
    world.clock.advance(minute);
    try {
      // The schedule may have taken the other one meanwhile.
      expect([0, 1]).toContain((await sendDue(world)).due);
      await eventually(async () => (await mailsOf(world, other.member.person)).length > 0);
    } finally {
      await asOwner(world, 'delete from notification_sendings where notification_id = any($1)', [copies]);
      await settle();
    }
    await allSent(world);
    expect(await mailsOf(world, other.member.person)).toHaveLength(1);
  });

  test('delays a mail for a quarter of an hour at most', async () => {
    await assign(owner.client, member.person, 'one of many');
    await settled();
    await withheldEvent();
    world.clock.advance(14 * minute);
    expect(await sendDue(world)).toMatchObject({ due: 0 });
    world.clock.advance(2 * minute);
    // The schedule may have taken it meanwhile.
    expect([0, 1]).toContain((await sendDue(world)).due);
    await settle();
    expect(await mails()).toHaveLength(1);
    expect(await sendingsOf(world, member.person)).toMatchObject([{ state: 'sent' }]);
  });
});

describe('a mail', () => {
  const dueAt = '2027-06-01T15:00:00Z';

  test('writes dates in the language and the time zone of its recipient', async () => {
    await changeSettings(member.client, { locale: 'de', timezone: 'Europe/Vienna' });
    await assign(owner.client, member.person, 'until then', { due_at: dueAt });
    expect((await mails())[0]).toContain('Due 1. Juni 2027 um 17:00 MESZ');
  });

  test('writes them in the time zone of the organization for people without one, and in UTC without either', async () => {
    await assign(owner.client, member.person, 'until then', { due_at: dueAt });
    expect((await mails())[0]).toMatch(/Due June 1, 2027 at 3:00\sPM UTC/u);
    const { body } = await owner.client.get('/v1/organization-settings');
    const url = `/v1/organization-settings/${body.data[0].id}`;
    await owner.client.mutate({ method: 'PATCH', url, payload: { timezone: 'Asia/Tokyo' } });
    await assign(owner.client, member.person, 'later', { due_at: dueAt });
    expect((await mails()).some((mail) => /Due June 2, 2027 at 12:00\sAM GMT\+9/u.test(mail))).toBe(true);
  });

  test('greets people by their name, and those without one without their address', async () => {
    await assign(owner.client, member.person, 'one');
    expect((await mails())[0]).toContain(`Hello ${member.person.user.displayName},`);
    const url = `/v1/users/${member.person.user.id}`;
    await member.client.mutate({ method: 'PATCH', url, payload: { display_name: member.person.user.email } });
    await assign(owner.client, member.person, 'two');
    const nameless = (await mails()).find((mail) => mail.includes(': two'));
    expect(nameless).toMatch(/^Hello,\r?$/m);
    expect(nameless).not.toMatch(/Hello \S/);
  });

  test('names the API token that has caused it', async () => {
    const made = await owner.client.post('/v1/api-tokens', {
      name: 'Ticket sync',
      scopes: ['task:write', 'user:read'],
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const program = world.client();
    program.bearer = made.body.token;
    await assign(program, member.person, 'by a program');
    await allSent(world);
    const [mail = ''] = await mailsTo(world, member.person.user.email);
    expect(subjectOf(mail)).toBe('The API token “Ticket sync” assigned a task to you');
  });
});
