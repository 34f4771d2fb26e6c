import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { announce } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { ended, startExport } from '../../kit/events/started-transfers.ts';
import {
  allSent,
  assign,
  changeSettings,
  mailsOf,
  ownerAndMember,
  prefer,
  sendDue,
  sendingsOf,
  setClock,
  type Teller,
} from '../../kit/events/told-people.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const consoleUrl = 'CORE_ORMCONFIG_NOTIFICATIONS_CONSOLEURL';

let world: World;
let owner: Teller;
let member: Teller;

beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { [consoleUrl]: 'https://console.example.com/app/' } });
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ owner, member } = await ownerAndMember(world));
});

/** Topics in the list of the app, the newest first. */
async function inbox(by: TestClient): Promise<string[]> {
  const { body } = await by.get('/v1/notifications/inbox');
  return body.data.map(({ topic }: { topic: string }) => topic);
}

async function mails({ person }: Teller): Promise<string[]> {
  await allSent(world);
  return mailsOf(world, person);
}

describe('a notification', () => {
  test('is mailed to its recipient with a link, and not to who acted', async () => {
    const id = await assign(owner.client, member.person, 'review it');
    await assign(owner.client, owner.person, 'my own');
    const [mail = '', ...more] = await mails(member);
    expect(more).toEqual([]);
    expect(mail).toContain(`Subject: ${owner.person.user.displayName} assigned a task to you`);
    expect(mail).toContain(`https://console.example.com/app/tasks/${id}`);
    expect(mail).toMatch(/TSK-\w+: review it/);
    expect(await mails(owner)).toEqual([]);
    expect(await sendingsOf(world, owner.person)).toEqual([]);
    expect(await sendingsOf(world, member.person)).toMatchObject([{ topic: 'task.assigned', state: 'sent', round: 1 }]);
    const { body } = await owner.client.get('/v1/emails?template=notification');
    expect(body.data).toMatchObject([{ recipient_id: member.person.user.id, status: 'sent' }]);
  });

  test('has links to the page that is configured, also after a reload', async () => {
    shows('ormconfig.notifications.consoleurl');
    await world.reconfigure({ [consoleUrl]: 'https://other.example.com' });
    const first = await assign(owner.client, member.person, 'one');
    expect((await mails(member))[0]).toContain(`https://other.example.com/tasks/${first}`);
    await world.reconfigure({ [consoleUrl]: '' });
    const second = await assign(owner.client, member.person, 'two');
    const found = (await mails(member)).find((mail) => mail.includes(': two'));
    expect(found).toContain(`https://api.test/v1/tasks/${second}`);
    await world.reconfigure({ [consoleUrl]: 'https://console.example.com/app/' });
  });

  test('is not mailed to who unsubscribed with the link of another one', async () => {
    await assign(owner.client, member.person, 'one');
    const [mail = ''] = await mails(member);
    expect(mail).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
    const [, url = ''] = /^List-Unsubscribe:\s*<([^>]+)>/m.exec(mail) ?? [];
    const answer = await world.client().request({
      method: 'POST',
      url: new URL(url).pathname + new URL(url).search,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'List-Unsubscribe=One-Click',
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await assign(owner.client, member.person, 'two');
    expect(await mails(member)).toHaveLength(1);
    expect(await sendingsOf(world, member.person)).toMatchObject([{ state: 'sent' }]);
    const { body: held } = await member.client.get('/v1/notification-preferences');
    expect(held.data).toMatchObject([{ channel: 'email', topic_pattern: 'task.assigned', is_unsubscribed: true }]);
    expect(await inbox(member.client)).toEqual(['task.assigned', 'task.assigned']);
  });

  test('says nothing in a mail that a program would make a link of', async () => {
    const id = await assign(owner.client, member.person, '<b>x</b> https://evil.example.net/a');
    await mails(member);
    // Titles are texts of one line; comments are not.
    const text = `@[Jo](user:${member.person.user.id}) \u2028\r\nBcc: a@example.net`;
    const { status, body } = await owner.client.post('/v1/notes', { text, task_id: id });
    expect(status, JSON.stringify(body)).toBe(201);
    const sent = await mails(member);
    expect(sent).toHaveLength(2);
    const mail = sent.join('\r\n');
    expect(mail).toContain('mentioned you in a comment');
    expect(mail).toContain(`@${member.person.user.displayName} Bcc: a at example. net`);
    expect(mail).not.toContain('evil.example.net');
    expect(mail).not.toContain('a@example.net');
    expect(mail).toContain('&lt;b&gt;x&lt;');
    expect(mail).not.toMatch(/^Bcc/m);
  });
});

describe('a preference', () => {
  test('with the longest pattern that fits counts', async () => {
    await prefer(member.client, { channel: 'email', cadence: 'mute' });
    await prefer(member.client, { channel: 'email', topic_pattern: 'task.*', cadence: 'immediate' });
    await prefer(member.client, { channel: 'email', topic_pattern: 'task.mentioned', cadence: 'mute' });
    await assign(owner.client, member.person, 'assigned');
    const mention = `@[Jo](user:${member.person.user.id})`;
    await owner.client.post('/v1/tasks', { title: 'mentioned', details: mention, assignee_id: member.person.user.id });
    const sent = await mails(member);
    expect(sent.filter((mail) => mail.includes('assigned a task to you'))).not.toEqual([]);
    expect(sent.filter((mail) => mail.includes('mentioned you'))).toEqual([]);
    expect(await inbox(member.client)).toContain('task.mentioned');
  });

  test('that mutes the app leaves the mail, and what is muted everywhere is not told', async () => {
    const muted = await prefer(member.client, { channel: 'in_app', cadence: 'mute' });
    const id = await assign(owner.client, member.person, 'by mail only');
    expect(await mails(member)).toHaveLength(1);
    expect(await inbox(member.client)).toEqual([]);
    const { body } = await member.client.get('/v1/notifications?count=true');
    expect(body).toMatchObject({ data: [], total_count: 0 });
    await prefer(member.client, { channel: 'email', cadence: 'mute' });
    await assign(owner.client, member.person, 'not at all');
    expect(await mails(member)).toHaveLength(1);
    const rows = await asOwner(world, 'select target_id from notifications where user_id = $1', [
      member.person.user.id,
    ]);
    expect(rows).toEqual([{ target_id: id }]);
    await member.client.mutate({ method: 'DELETE', url: `/v1/notification-preferences/${muted}` });
    await assign(owner.client, member.person, 'in the app only');
    await allSent(world);
    expect(await inbox(member.client)).toEqual(['task.assigned']);
    expect(await mails(member)).toHaveLength(1);
  });

  test('of one organization says nothing about another, and that of one person nothing about others', async () => {
    const other = await ownerAndMember(world);
    await prefer(owner.client, { channel: 'email', cadence: 'mute' });
    await prefer(other.member.client, { channel: 'email', cadence: 'mute' });
    await assign(owner.client, member.person, 'one');
    expect(await mails(member)).toHaveLength(1);
  });
});

describe('a notification that was held back', () => {
  test('by quiet hours is sent at their end, also in the night in which clocks are set', async () => {
    // Vienna: clocks are set forward on 28 March 2027, from 2:00 to 3:00, so the hours end at 5:00 UTC.
    await setClock(world, '2027-03-27T21:30:00Z');
    ({ owner, member } = await ownerAndMember(world));
    const quiet = { quiet_hours_start: '22:00', quiet_hours_end: '07:00' };
    await changeSettings(member.client, { timezone: 'Europe/Vienna' });
    await prefer(member.client, { channel: 'email', ...quiet });
    await assign(owner.client, member.person, 'at night');
    expect(await mails(member)).toEqual([]);
    expect(await sendingsOf(world, member.person)).toMatchObject([
      { state: 'due', due_at: new Date('2027-03-28T05:00:00Z') },
    ]);
    await setClock(world, '2027-03-28T04:30:00Z');
    await sendDue(world);
    expect(await mails(member)).toEqual([]);
    await setClock(world, '2027-03-28T05:00:00Z');
    await sendDue(world);
    expect(await mails(member)).toHaveLength(1);
    await sendDue(world);
    expect(await mails(member)).toHaveLength(1);
  });

  test('by a pause is told at its end, several at once in one mail', async () => {
    const { client, person } = member;
    const at = new Date(world.clock.now().getTime() + 3_600_000);
    await prefer(client, { channel: 'email', mute_until: at.toISOString() });
    for (const title of ['first', 'second']) await assign(owner.client, person, title);
    expect(await mails(member)).toEqual([]);
    await setClock(world, at.toISOString());
    await sendDue(world);
    const [mail = '', ...more] = await mails(member);
    expect(more).toEqual([]);
    expect(mail).toContain(': first');
    expect(mail).toContain(': second');
    expect(await sendingsOf(world, person)).toMatchObject([{ state: 'collected' }, { state: 'collected' }]);
  });

  test('is not sent to who has read it, lost the right to it, left, or wants no more', async () => {
    const at = new Date(world.clock.now().getTime() + 3_600_000);
    const muteUntil = { mute_until: at.toISOString() };
    const { client, person } = member;
    await prefer(client, { channel: 'email', ...muteUntil });
    const read = await assign(owner.client, person, 'read');
    await allSent(world);
    const { body } = await client.get(`/v1/notifications?target_id=${read}`);
    await client.mutate({ method: 'PATCH', url: `/v1/notifications/${body.data[0].id}`, payload: { is_read: true } });
    await setClock(world, at.toISOString());
    await sendDue(world);
    expect(await mails(member)).toEqual([]);

    owner = { ...owner, client: await signedIn(world, owner.person) };
    const { member: loser } = await joined();
    await prefer(loser.client, { channel: 'email', ...later() });
    const lost = await assign(owner.client, loser.person, 'secret plan');
    const { member: leaver } = await joined();
    await prefer(leaver.client, { channel: 'email', ...later() });
    await assign(owner.client, leaver.person, 'left');
    const { member: silent } = await joined();
    const preference = await prefer(silent.client, { channel: 'email', ...later() });
    await assign(owner.client, silent.person, 'unwanted');
    await allSent(world);
    await owner.client.mutate({ method: 'PATCH', url: `/v1/tasks/${lost}`, payload: { assignee_id: null } });
    const { body: memberships } = await owner.client.get(`/v1/memberships?user_id=${leaver.person.user.id}`);
    const left = await owner.client.mutate({ method: 'DELETE', url: `/v1/memberships/${memberships.data[0].id}` });
    expect(left.status).toBeLessThan(300);
    await silent.client.mutate({
      method: 'PATCH',
      url: `/v1/notification-preferences/${preference}`,
      payload: { cadence: 'mute', mute_until: null },
    });
    world.clock.advance(3_600_000);
    await sendDue(world);
    for (const one of [loser, leaver, silent]) {
      expect(await mails(one)).toEqual([]);
      expect(await sendingsOf(world, one.person)).toMatchObject([{ state: 'dropped' }]);
    }
  });

  const later = () => ({ mute_until: new Date(world.clock.now().getTime() + 3_600_000).toISOString() });

  /** Another member of the owner's organization. */
  async function joined(): Promise<{ readonly member: Teller }> {
    const person = await buildPerson(world, { organization: owner.person.organization, role: 'member' });
    return { member: { person, client: await signedIn(world, person) } };
  }
});

describe('people are told', () => {
  test('of their export when it is ready, and nobody else is', async () => {
    const { id } = await startExport(member.client, { record_kind: 'task' });
    expect((await ended(member.client, 'exports', id)).status).toBe('completed');
    await allSent(world);
    expect(await inbox(member.client)).toEqual(['export.completed']);
    expect(await inbox(owner.client)).toEqual([]);
    const [mail = ''] = await mails(member);
    expect(mail).toContain('Your export is ready');
    expect(mail).toContain(`https://console.example.com/app/exports/${id}`);
  });

  test('of an export that failed', async () => {
    const { id } = await startExport(member.client, { record_kind: 'task' });
    await ended(member.client, 'exports', id);
    const { id: organizationId } = owner.person.organization;
    const payload = { code: 'limit_exceeded' };
    await announce(world, [{ topic: 'export.failed', entityId: id, recordVersion: 9, organizationId, payload }]);
    await allSent(world);
    const { body } = await member.client.get('/v1/notifications/inbox');
    expect(body.data).toContainEqual(
      expect.objectContaining({ title: 'Your export has failed', body: expect.stringMatching(/limit_exceeded$/) }),
    );
    expect(await inbox(owner.client)).toEqual([]);
  });

  test('that their organization is ready, and not of each task that comes with it', async () => {
    const { data } = await owner.client.graphql(
      'mutation ($name: String!) { createOrganization(input: { name: $name }) { organization { id } } }',
      { name: `Ready ${owner.person.user.id}` },
    );
    const { id } = data.createOrganization.organization;
    await owner.client.post('/v1/switch', { target_organization_id: id });
    await eventually(async () => (await inbox(owner.client)).includes('organization.ready'));
    await allSent(world);
    const { body } = await owner.client.get('/v1/notifications/inbox');
    expect(body.data).toMatchObject([
      { topic: 'organization.ready', title: 'Your organization is ready', target_id: id, link: '/' },
    ]);
    expect(await mails(owner)).toEqual([]);
  });
});
