import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountEmailSuppression, emailSuppression, membership } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { mailsTo, unfolded } from '../../kit/mailbox.ts';
import { eventually } from '../../kit/eventually.ts';
import { signedIn, buildPerson } from '../../kit/people.ts';
import { allSent, assign, mailsOf, ownerAndMember, prefer, type Teller } from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Teller;
let member: Teller;
let token: string;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

beforeEach(async () => {
  ({ owner, member } = await ownerAndMember(world));
  await assign(owner.client, member.person, 'the first');
  token = tokenIn((await mails())[0]);
});

async function mails(): Promise<string[]> {
  await allSent(world);
  return mailsOf(world, member.person);
}

function tokenIn(mail = ''): string {
  const [, found = ''] = /\/v1\/unsubscribe\?token=([\w.-]+)>/.exec(mail) ?? [];
  expect(found).not.toBe('');
  return found;
}

const post = (path: string, body: object) => world.client().post(`/v1/unsubscribe${path}`, body);

/** Mentions the member in a comment on a task that they see. */
async function mentionIn(task: string): Promise<void> {
  const text = `@[x](user:${member.person.user.id}) look`;
  expect((await owner.client.post('/v1/notes', { text, task_id: task })).status).toBe(201);
}

const preferences = async () => (await member.client.get('/v1/notification-preferences')).body.data;
const suppressions = async () => (await member.client.get('/v1/account/email-suppressions')).body.data;

describe('a link to unsubscribe', () => {
  test('names address, organization and topic, and ends that topic only', async () => {
    const { email } = member.person.user;
    const { name } = owner.person.organization;
    expect((await post('/show', { token })).body).toEqual({
      message: `${name} sends e-mails about tasks that are assigned to you to ${email}.`,
      email,
      organization: name,
      topics: [{ topic: 'task.assigned', name: 'tasks that are assigned to you' }],
      ended: 'nothing',
    });
    for (const time of [1, 2]) {
      const { status, body } = await post('', { token });
      expect(status, String(time)).toBe(200);
      expect(body.message).toBe(`${name} sends no more e-mails about tasks that are assigned to you to ${email}.`);
    }
    expect((await post('/show', { token })).body).toMatchObject({ ended: 'topics' });
    const second = await assign(owner.client, member.person, 'the second');
    await mentionIn(second);
    const all = await mails();
    expect(all).toHaveLength(2);
    expect(all.filter((mail) => mail.includes('mentioned you in a comment'))).toHaveLength(1);
    expect(await preferences()).toMatchObject([
      { channel: 'email', topic_pattern: 'task.assigned', is_unsubscribed: true },
    ]);
    expect(await suppressions()).toEqual([]);
  });

  test('ends all of the organization if that is asked for, which people see among their suppressions', async () => {
    expect((await post('', { token, scope: 'organization' })).status).toBe(200);
    expect((await post('/show', { token })).body).toMatchObject({ ended: 'organization' });
    await mentionIn(await assign(owner.client, member.person, 'the second'));
    expect(await mails()).toHaveLength(1);
    expect(await suppressions()).toMatchObject([
      {
        email: member.person.user.email,
        organization: owner.person.organization.name,
        about: 'all e-mails of the organization',
        reason: 'unsubscribed',
        can_release: true,
      },
    ]);
  });

  test.each(['topics', 'organization'])('takes back what has ended (%s), and leaves nothing behind', async (scope) => {
    await post('', { token, scope });
    for (const time of [1, 2]) expect((await post('/undo', { token })).status, String(time)).toBe(200);
    expect((await post('/show', { token })).body).toMatchObject({ ended: 'nothing' });
    expect(await preferences()).toEqual([]);
    expect(await suppressions()).toEqual([]);
    await assign(owner.client, member.person, 'the second');
    expect(await mails()).toHaveLength(2);
  });

  test('keeps the cadence that a person has chosen for the topic', async () => {
    await prefer(member.client, { channel: 'email', topic_pattern: 'task.assigned', cadence: 'daily' });
    await post('', { token });
    expect(await preferences()).toMatchObject([{ cadence: 'daily', is_unsubscribed: true }]);
    await post('/undo', { token });
    expect(await preferences()).toMatchObject([{ cadence: 'daily', is_unsubscribed: false }]);
  });

  test('leaves the rhythm that applied to a person when they take it back themselves', async () => {
    const rhythm = { cadence: 'weekly', quiet_hours_start: '20:00', quiet_hours_end: '08:00' };
    await prefer(member.client, { channel: 'email', topic_pattern: '*', cadence: 'daily' });
    await prefer(member.client, { channel: 'email', topic_pattern: 'task.*', ...rhythm });
    await post('', { token });
    const made = (await preferences()).find((one: { topic_pattern: string }) => one.topic_pattern === 'task.assigned');
    const url = `/v1/notification-preferences/${made.id}`;
    const { body } = await member.client.mutate({ method: 'PATCH', url, payload: { is_unsubscribed: false } });
    expect(body).toMatchObject({ ...rhythm, is_unsubscribed: false });
  });

  test('ends the topic for somebody who has left, also after they were admitted again', async () => {
    const { organization } = owner.person;
    const [row] = await asOwner<{ id: string }>(
      world,
      'select id from memberships where user_id = $1 and deleted_at is null',
      [member.person.user.id],
    );
    await owner.client.mutate({ method: 'DELETE', url: `/v1/memberships/${row?.id}` });
    // As mail programs send it (RFC 8058).
    const answer = await world.client().mutate({
      method: 'POST',
      url: `/v1/unsubscribe?token=${token}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'List-Unsubscribe=One-Click',
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect((await post('/show', { token })).body).toMatchObject({ ended: 'topics' });
    expect(await suppressions()).toMatchObject([
      { about: 'e-mails about tasks that are assigned to you', reason: 'unsubscribed', can_release: true },
    ]);
    await asSystem(world, organization.id, (data) =>
      data.create(membership, { userId: member.person.user.id, role: 'member' }),
    );
    const before = (await mails()).length;
    await mentionIn(await assign(owner.client, member.person, 'after the return'));
    await assign(owner.client, member.person, 'another one');
    const after = await mails();
    // The digest of the three leaves out what was ended.
    expect(after).toHaveLength(before + 1);
    const added = after.find((mail) => mail.includes('mentioned you in a comment'));
    expect(added).not.toContain('another one');
    expect((await post('/undo', { token })).status).toBe(200);
    expect(await suppressions()).toEqual([]);
  });

  test('shows nobody who reads a former address the present one', async () => {
    const former = member.person.user.email;
    const present = `new-${former}`;
    await asOwner(world, 'update users set email = $2 where id = $1', [member.person.user.id, present]);
    const { name } = owner.person.organization;
    const shown = await post('/show', { token });
    expect(shown.body).toMatchObject({
      message: `${name} sends e-mails about tasks that are assigned to you to the present address of this person.`,
      email: null,
    });
    const answers = [shown, await post('', { token }), await post('', { token, scope: 'organization' })];
    for (const { status, body } of [...answers, await post('/undo', { token })]) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain(present);
    }
    await asOwner(world, 'update users set email = $2 where id = $1', [member.person.user.id, former]);
    expect((await post('/show', { token })).body.email).toBe(former);
  });

  test('is refused with the token of something else', async () => {
    for (const path of ['', '/show', '/undo'])
      expectProblem(await post(path, { token: `${token.slice(0, -1)}_` }), 'invalid_token');
    expect(await preferences()).toEqual([]);
  });
});

describe('a person', () => {
  test('takes back in their own preferences what a link has ended', async () => {
    await post('', { token });
    const [{ id }] = await preferences();
    const url = `/v1/notification-preferences/${id}`;
    await member.client.mutate({ method: 'PATCH', url, payload: { is_unsubscribed: false } });
    await assign(owner.client, member.person, 'the second');
    expect(await mails()).toHaveLength(2);
    // Theirs now: the link leaves it.
    await post('/undo', { token });
    expect(await preferences()).toMatchObject([{ id, is_unsubscribed: false }]);
  });

  test('sees why they get no e-mails, and releases only what they have ended themselves', async () => {
    await post('', { token, scope: 'organization' });
    const [own] = await suppressions();
    const release = (id: string, by = member) => by.client.post(`/v1/account/email-suppressions/${id}/release`, {});
    expectProblem(await release(own.id, owner), 'not_found');
    expect((await release(own.id)).status).toBe(200);
    expect(await suppressions()).toEqual([]);
    const entered = await owner.client.post('/v1/email-suppressions', { email: member.person.user.email });
    expect(entered.status, JSON.stringify(entered.body)).toBe(201);
    expect(await suppressions()).toMatchObject([{ reason: 'manual', can_release: false }]);
    expectProblem(await release(entered.body.id), 'permission_denied');
    expect((await post('/undo', { token })).body.message).toMatch(/suppressed for another reason/);
    await asOwner(world, `update email_suppressions set reason = 'hard_bounce' where id = $1`, [entered.body.id]);
    expect(await suppressions()).toMatchObject([{ reason: 'hard_bounce', can_release: false }]);
  });

  test('sees at most a hundred suppressions of all sorts, the newest first', async () => {
    const address = member.person.user.email;
    const { id: organizationId } = owner.person.organization;
    const context = { caller: systemCaller('test'), requestId: newId() };
    const ofAccount = () =>
      world.runtime.database.transact(context, ({ data }) =>
        data.create(accountEmailSuppression, { email: address, reason: 'hard_bounce' }),
      );
    const ofTopics = (from: number, count: number) =>
      asSystem(world, organizationId, (data) =>
        data.createAll(
          Array.from({ length: count }, (_, n) => ({
            module: emailSuppression,
            input: {
              email: address,
              topic: `sort-${String.fromCodePoint(97 + Math.floor((from + n) / 26), 97 + ((from + n) % 26))}`,
            },
            path: '',
          })),
        ),
      );
    await ofTopics(0, 60);
    await ofAccount();
    await ofTopics(60, 50);
    const all = await suppressions();
    expect(all).toHaveLength(100);
    const ids = all.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(ids.toSorted().toReversed());
    expect(all[50]).toMatchObject({ organization_id: null, reason: 'hard_bounce' });
  });

  test('who is invited ends the invitations of the organization, and nothing else that it may send later', async () => {
    const address = `${member.person.user.id.toLowerCase()}@guests.example`;
    await owner.client.post('/v1/invites', { recipient: address, role: 'member' });
    const mail = await eventually(async () => (await mailsTo(world, address))[0]);
    const invitation = tokenIn(unfolded(mail));
    expect((await post('/show', { token: invitation })).body).toMatchObject({
      email: address,
      topics: [{ topic: 'invite', name: 'invitations' }],
    });
    await post('', { token: invitation });
    const person = await buildPerson(world, {
      organization: owner.person.organization,
      role: 'member',
      email: address,
    });
    const client = await signedIn(world, person);
    const { body } = await client.get('/v1/account/email-suppressions');
    expect(body.data).toMatchObject([{ about: 'e-mails about invitations', reason: 'unsubscribed' }]);
    await assign(owner.client, person, 'welcome');
    await allSent(world);
    expect((await mailsOf(world, person)).some((one) => one.includes('assigned a task to you'))).toBe(true);
  });
});
