import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { allSent, assign, mailsOf, ownerAndMember, type Teller } from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Teller;
let member: Teller;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: { CORE_ORMCONFIG_NOTIFICATIONS_CONSOLEURL: 'https://console.example.com' },
  });
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ owner, member } = await ownerAndMember(world));
});

const url = '/v1/notification-templates';
const valid = { topic: 'task.assigned', subject_template: '{{displayId}} is yours', body_template: 'See {{ title }}.' };

async function give(by: Teller, values: object): Promise<string> {
  const { status, body } = await by.client.post(url, { ...valid, ...values });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** The mail about a task with this title. */
async function told(title: string): Promise<string> {
  await assign(owner.client, member.person, title);
  await allSent(world);
  const mails = await mailsOf(world, member.person);
  return mails.find((mail) => mail.includes(title)) ?? mails[0] ?? '';
}

/** Without the line breaks of long headers. */
const subjectOf = (mail: string) =>
  /^Subject:((?:\r?\n[ \t]|[^\r\n])*)/m.exec(mail)?.[1]?.replaceAll(/\r?\n/g, '').trim();

test('the e-mail has the words of the organization, and those of the product after the template is gone', async () => {
  const id = await give(owner, {});
  const own = await told('the first');
  expect(subjectOf(own)).toMatch(/^TSK-\w+ is yours$/);
  expect(own).toContain('See the first.');
  expect(own).toContain('https://console.example.com/tasks/');
  expect(own).toMatch(/^List-Unsubscribe:/m);

  await owner.client.mutate({ method: 'PATCH', url: `${url}/${id}`, payload: { subject_template: 'Yours' } });
  expect(subjectOf(await told('the second'))).toBe('Yours');
  expect((await owner.client.mutate({ method: 'DELETE', url: `${url}/${id}` })).status).toBe(204);
  const ours = await told('the third');
  expect(subjectOf(ours)).toBe(`${owner.person.user.displayName} assigned a task to you`);
  expect(ours).not.toContain('See the third.');
});

test('a template of another organization, or for another topic, is never used', async () => {
  const other = await ownerAndMember(world);
  await give(other.owner, { subject_template: 'of another organization' });
  await give(owner, { topic: 'task.mentioned', subject_template: 'about another topic' });
  expect(subjectOf(await told('a task'))).toBe(`${owner.person.user.displayName} assigned a task to you`);
});

test('managers change it; members and other organizations do not even see it', async () => {
  const id = await give(owner, {});
  const admin = await signedIn(
    world,
    await buildPerson(world, { organization: owner.person.organization, role: 'admin' }),
  );
  const change = { method: 'PATCH', url: `${url}/${id}`, payload: { subject_template: 'by an admin' } } as const;
  expect((await admin.mutate(change)).status).toBe(200);
  const stranger = await signedIn(world, await buildPerson(world));
  for (const by of [member.client, stranger]) {
    expectProblem(await by.get(`${url}/${id}`), 'not_found');
    expectProblem(await by.mutate(change), 'not_found');
  }
  expectProblem(await member.client.post(url, { ...valid, topic: 'task.mentioned' }), 'permission_denied');
  expectProblem(await member.client.post(`${url}/preview`, valid), 'permission_denied');
  expectProblem(await world.client().post(`${url}/preview`, valid), 'unauthenticated');
});

describe('a template is refused', () => {
  test.each([
    [{ body_template: 'See {{titel}}.' }, '/body_template', 'did you mean "{{title}}"?'],
    [
      { subject_template: '{{text}}' },
      '/subject_template',
      'variables are {{actor}}, {{display_id}}, {{title}}, {{due}}',
    ],
    [{ subject_template: '{{constructor}}' }, '/subject_template', 'unknown variable'],
    [{ body_template: '{{title' }, '/body_template', 'double braces'],
    [{ body_template: '{{#if title}}x{{/if}}' }, '/body_template', 'unknown variable'],
    [{ body_template: '{{{{title}}}}' }, '/body_template', 'double braces'],
    [{ body_template: '' }, '/body_template', ''],
    [{ body_template: 'x'.repeat(10_000) }, '/body_template', '5000'],
    [{ subject_template: 'x'.repeat(201) }, '/subject_template', '200'],
    [{ subject_template: 'One\r\nBcc: victim@example.net' }, '/subject_template', 'must be in one line'],
    [{ topic: 'task.asigned' }, '/topic', 'did you mean "task.assigned"?'],
    [{ channel: 'chat' }, '/channel', ''],
  ])('%j', async (values, path, message) => {
    const before = await asOwner(world, 'select id from notification_templates');
    const answer = await owner.client.post(url, { ...valid, ...values });
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(answer.body.errors).toEqual([expect.objectContaining({ path, message: expect.stringContaining(message) })]);
    expect(await asOwner(world, 'select id from notification_templates')).toEqual(before);
    if ('channel' in values) return;
    const previewed = await owner.client.post(`${url}/preview`, { ...valid, ...values });
    expect(previewed.body.errors).toEqual(answer.body.errors);
  });

  test('an unknown variable in a change, over GraphQL too, and a second template for the topic', async () => {
    const id = await give(owner, {});
    const change = { method: 'PATCH', url: `${url}/${id}`, payload: { body_template: '{{nothing}}' } } as const;
    expectProblem(await owner.client.mutate(change), 'invalid_input');
    const { body } = await owner.client.post('/graphql', {
      query: `mutation { updateNotificationTemplate(id: "${id}", input: { subjectTemplate: "{{displayID}}" }) { notificationTemplate { id } } }`,
    });
    expect(body.errors[0].extensions).toMatchObject({
      code: 'invalid_input',
      errors: [{ path: '/subjectTemplate', message: expect.stringContaining('did you mean "{{displayId}}"?') }],
    });
    expectProblem(await owner.client.post(url, valid), 'already_exists');
  });
});

describe('a text in a template is inert', () => {
  test('line breaks make no headers, markup is text, and links and addresses are broken up', async () => {
    await give(owner, {
      topic: 'note.mentioned',
      subject_template: 'One {{text}}',
      body_template:
        '<script>alert(1)</script>\r\n<a href="https://evil.example.net">here</a>\nhttps://evil.example.net/a?b\n{{text}}',
    });
    const id = await assign(owner.client, member.person, 'a task');
    // Otherwise both would be told of in one mail.
    await allSent(world);
    const text = `@[Jo](user:${member.person.user.id}) {{displayId}} \r\nBcc: victim@example.net \u2028\nBcc: a@example.net <b>x</b> www.evil.example.org`;
    const { status, body } = await owner.client.post('/v1/notes', { text, task_id: id });
    expect(status, JSON.stringify(body)).toBe(201);
    await allSent(world);
    const sent = (await mailsOf(world, member.person)).find((mail) => subjectOf(mail)?.startsWith('One ')) ?? '';
    // Without the soft line breaks of quoted-printable, which may be anywhere.
    const mail = sent.replaceAll(/=\r?\n/g, '');
    expect(mail).not.toMatch(/^Bcc/m);
    expect(subjectOf(mail)).toMatch(/^One @.+ \{\{displayId\}\} Bcc: victim at example\. net Bcc: a at example\. net/);
    expect(mail).not.toMatch(/evil\.example|victim@|\ba@example/);
    const html = mail.slice(mail.indexOf('text/html'));
    expect(html).not.toMatch(/<script|<a href=3D"https:\/?\/?.?evil|<b>x/);
    expect(html).toContain('&lt;script&gt;');
    // What a value says is no variable.
    expect(mail).toContain('{{displayId}}');
  });

  test('a title of a task as long as it can be', async () => {
    await give(owner, { subject_template: '{{display_id}}{{title}}{{title}}', body_template: '{{title}}' });
    const title = 'y'.repeat(255);
    const mail = await told(title);
    expect(subjectOf(mail)?.length).toBeLessThanOrEqual(200);
    expect(subjectOf(mail)).toMatch(/^TSK-/);
    expect(mail).toContain(title);
  });
});

test('a preview shows the e-mail with values as they could be, and stores nothing', async () => {
  const { status, body } = await owner.client.post(`${url}/preview`, {
    ...valid,
    body_template: 'See {{title}}.\n<b>',
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.subject).toBe('TSK-7 is yours');
  expect(body.text).toContain('See Review the access rights.');
  expect(body.html).toContain('&lt;b&gt;');
  expect(body.html).not.toContain('<b>');
  expect(body.text).toContain(owner.person.organization.name);
  expect((await owner.client.get(url)).body.data).toEqual([]);
});
