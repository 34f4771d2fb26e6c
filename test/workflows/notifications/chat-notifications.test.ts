import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import {
  allSent,
  assign,
  mailsOf,
  ownerAndMember,
  prefer,
  sendDue,
  type Teller,
} from '../../kit/events/told-people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { FakeChatWorkspaces } from '../../kit/fakes/integrations/fake-chat-workspace.ts';
import { chatEnvironment, connectChat, memberIn } from '../../kit/integrations/connected-chat.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let chat: FakeChatWorkspaces;
let owner: Teller;
let member: Teller;

beforeAll(async () => {
  chat = await FakeChatWorkspaces.start();
  world = await openWorld({
    worker: true,
    environment: {
      ...chatEnvironment(chat),
      CORE_ORMCONFIG_NOTIFICATIONS_CONSOLEURL: 'https://console.example.com',
    },
    integrations: { urls: chat.urls },
  });
});
afterAll(async () => {
  await world.close();
  await chat.close();
});
beforeEach(async () => {
  ({ owner, member } = await ownerAndMember(world));
  chat.posted.length = 0;
});

const chatSendings = async ({ person }: Teller) =>
  asOwner(world, `select state, error from notification_sendings where user_id = $1 and channel = 'chat'`, [
    person.user.id,
  ]);

const isSent = () =>
  eventually(async () => {
    const open = await asOwner(
      world,
      `select 1 from notification_sendings where channel = 'chat' and state in ('due', 'planned') union all
       select 1 from notification_digests where channel = 'chat' and state = 'claimed'`,
    );
    return open.length === 0;
  });

test('a person who prefers the chat of the organization is notified there, once, and only with a preference', async () => {
  await connectChat(chat, owner.client, [
    memberIn(owner.person, 'U0000000001'),
    memberIn(member.person, 'U0000000002'),
  ]);
  await prefer(member.client, { channel: 'chat', topic_pattern: 'task.*' });
  await prefer(member.client, { channel: 'email', topic_pattern: 'task.*', cadence: 'mute' });
  const id = await assign(owner.client, member.person, 'review <!channel> it');
  await assign(member.client, owner.person, 'for the owner');
  await allSent(world);
  await isSent();
  await eventually(() => chat.posted.length > 0);
  expect(chat.posted).toEqual([
    {
      channel: 'U0000000002',
      text: expect.stringMatching(
        new RegExp(
          `^${owner.person.user.displayName} assigned a task to you\\n.*review &lt;!channel&gt; it[^]*\\nhttps://console.example.com/tasks/${id}$`,
        ),
      ),
    },
  ]);
  expect(await mailsOf(world, member.person)).toEqual([]);
  expect(await chatSendings(owner)).toEqual([]);
  const rows = await asOwner(world, `select message, state from system_messages where message = 'notification'`);
  expect(rows).toEqual([{ message: 'notification', state: 'sent' }]);
});

test('several that are due at once are one message', async () => {
  await connectChat(chat, owner.client, [memberIn(member.person, 'U0000000003')]);
  await prefer(member.client, { channel: 'chat', topic_pattern: '*' });
  await assign(owner.client, member.person, 'one');
  await assign(owner.client, member.person, 'two');
  await allSent(world);
  await isSent();
  await eventually(() => chat.posted.length > 0);
  const [message, ...more] = chat.posted;
  const text = message?.text ?? '';
  expect(more).toEqual([]);
  expect(text).toMatch(/^2 tasks/);
  expect(text.split('\n').filter((line) => line.startsWith('•'))).toHaveLength(2);
});

test('without a connected chat a preference for it is refused, and one that is there sends nothing', async () => {
  const refused = await member.client.post('/v1/notification-preferences', { channel: 'chat', topic_pattern: '*' });
  expectProblem(refused, 'chat_not_connected');
  const id = await connectChat(chat, owner.client, [memberIn(member.person, 'U0000000004')]);
  await prefer(member.client, { channel: 'chat', topic_pattern: '*' });
  await owner.client.post(`/v1/integrations/${id}/disconnect`, {});
  await assign(owner.client, member.person, 'nobody posts it');
  await allSent(world);
  await isSent();
  expect(await chatSendings(member)).toMatchObject([{ state: 'dropped' }]);
  expect(chat.posted).toEqual([]);
});

test('nothing is posted for somebody whom the workspace does not know, and the message fails for nobody else', async () => {
  await connectChat(chat, owner.client, [memberIn(owner.person, 'U0000000005')]);
  await prefer(member.client, { channel: 'chat', topic_pattern: '*' });
  await prefer(owner.client, { channel: 'chat', topic_pattern: '*' });
  await assign(owner.client, member.person, 'unknown there');
  await assign(member.client, owner.person, 'known there');
  await allSent(world);
  await isSent();
  await eventually(() => chat.posted.length > 0);
  expect(chat.posted).toMatchObject([{ channel: 'U0000000005' }]);
  await eventually(async () => {
    const rows = await asOwner(world, `select error from system_messages where state = 'failed'`);
    return rows.some(({ error }) => error === 'no_such_person');
  });
});

test('a chat that limits is asked again after its pause, and one whose answer is missing is not', async () => {
  await connectChat(chat, owner.client, [memberIn(member.person, 'U0000000006')]);
  await prefer(member.client, { channel: 'chat', topic_pattern: '*' });
  chat.nextError = 'ratelimited';
  await assign(owner.client, member.person, 'after a pause');
  await allSent(world);
  await isSent();
  const messages = () =>
    asOwner<{ state: string }>(
      world,
      `select m.state from system_messages m join notification_sendings s on m.key like 'notification/' || s.notification_id || '/%'
       where s.user_id = $1 and s.channel = 'chat'`,
      [member.person.user.id],
    );
  await eventually(async () => (await messages())[0]?.state === 'waiting' || chat.posted.length === 1);
  chat.next.push('cut');
  await assign(owner.client, member.person, 'perhaps posted');
  await eventually(async () => {
    world.clock.advance(61_000);
    await sendDue(world);
    return (await messages()).some(({ state }) => state === 'uncertain');
  });
  expect(chat.posted.map(({ text }) => text).filter((text) => text.includes('perhaps posted'))).toEqual([]);
});
