import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { assign, ownerAndMember } from '../kit/events/told-people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let shell: ReaderShell;
let url: string;
beforeAll(async () => {
  world = await openWorld({
    worker: ['workflows', 'events'],
    environment: { CORE_ORMCONFIG_NOTIFICATIONS_CONSOLEURL: 'https://console.example.com' },
  });
  ({ url } = await world.listen());
  shell = new ReaderShell(dirname(world.mailFolder), 'reader');
});
afterAll(async () => {
  await shell?.close();
  await world.close();
});

test('the calls do what the page says', async () => {
  const { owner, member } = await ownerAndMember(world);
  for (const title of ['one', 'two', 'three']) await assign(owner.client, member.person, title);
  await eventually(() => isSettled(world));
  await shell.run(`API=${url}\nTOKEN=${member.client.cookies.get('access_token')}\n`);
  const [comment = '', ...furtherComments] = codeBlocks('docs/notifications.md', 'sh', '# Notifications');
  expect(furtherComments).toEqual([]);
  const task = (await member.client.get('/v1/tasks?first=1')).body.data[0].id;
  await shell.run(`TASK=${task}\nPERSON=${owner.person.user.id}\n`);
  expect(JSON.parse(await shell.run(comment))).toMatchObject({ text: expect.stringContaining('please review') });
  await eventually(async () =>
    (await owner.client.get('/v1/notifications/inbox')).body.data.some(
      ({ topic }: { topic: string }) => topic === 'note.mentioned',
    ),
  );
  const [inbox = '', mark = '', ...more] = codeBlocks('docs/notifications.md', 'sh', 'The inbox');
  expect(more).toEqual([]);
  const read = async () => JSON.parse(await shell.run(inbox)) as { data: { id: string }[]; unread_count: number };
  const { data, ...rest } = await read();
  expect(data).toHaveLength(3);
  expect(rest).toMatchObject({ unread_count: 3, console_url: 'https://console.example.com' });
  const [markOne = '', markAll = ''] = mark.trim().split('\n');
  await shell.run(`NOTIFICATION=${data[0]?.id}\n`);
  expect(JSON.parse(await shell.run(markOne))).toMatchObject({ is_read: true });
  expect(await read()).toMatchObject({ unread_count: 2 });
  expect(JSON.parse(await shell.run(markAll))).toEqual({ marked_count: 2, has_more: false });
  const [prefer = '', ...others] = codeBlocks('docs/notifications.md', 'sh', 'Preferences');
  expect(others).toEqual([]);
  expect(JSON.parse(await shell.run(prefer))).toMatchObject({ cadence: 'daily', user_id: member.person.user.id });
  const chat = await member.client.post('/v1/notification-preferences', { channel: 'chat' });
  expect(chat.body).toMatchObject({ status: 404, code: 'chat_not_connected', errors: [{ path: '/channel' }] });
  const { body: held } = await member.client.get('/v1/notification-preferences');
  expect(held.data.map(({ channel }: { channel: string }) => channel)).toEqual(['email']);
  const [own = '', ...rows] = codeBlocks('docs/notifications.md', 'sh', 'Unsubscribing');
  expect(rows).toEqual([]);
  expect(JSON.parse(await shell.run(own))).toEqual({ data: [] });
  await shell.run(`TOKEN=${owner.client.cookies.get('access_token')}\n`);
  const [template = '', ...further] = codeBlocks('docs/notifications.md', 'sh', 'Texts of an organization');
  expect(further).toEqual([]);
  expect(JSON.parse(await shell.run(template))).toMatchObject({ topic: 'task.assigned', channel: 'email' });
});
