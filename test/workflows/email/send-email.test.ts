import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { sendEmailContract, type SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { mailsTo, tokenIn, waitForMails } from '../../kit/mailbox.ts';
import { buildPerson } from '../../kit/people.ts';
import { waitForRuns } from '../../kit/runs.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

const signUp = (email: string) => world.client().post('/v1/register', { email, password: 'correct horse battery' });

async function verificationOf(email: string): Promise<{ id: string; round: number }> {
  const [row] = await asOwner<{ id: string; round: number }>(
    world,
    'select id, round from email_verifications where email = $1',
    [email],
  );
  return row as NonNullable<typeof row>;
}

async function start(input: Omit<SendEmailInput, 'queue'>) {
  const { temporal } = world.runtime;
  const whole = { ...input, queue: temporal.activityQueue('email') };
  await temporal.start(sendEmailContract, whole, { search: {} });
  return temporal.client.workflow.getHandle(temporal.workflowId(sendEmailContract, whole));
}

async function send(input: Omit<SendEmailInput, 'queue'>): Promise<string> {
  return (await start(input)).result() as Promise<string>;
}

test('the same key is the same mail, however often it is asked for', async () => {
  await signUp('once@example.com');
  await waitForMails(world, 'once@example.com');
  const about = await verificationOf('once@example.com');
  const again = { key: 'the-same', template: 'verify-address', about } as const;
  expect(await Promise.all([send(again), send(again), send(again)])).toEqual(['sent', 'sent', 'sent']);
  expect(await mailsTo(world, 'once@example.com')).toHaveLength(2);
  expect(await waitForRuns(world, `WorkflowId = "${world.name}/email/the-same"`, 1)).toHaveLength(1);
});

test('a mail whose sending was cut off after it had left is not there twice', async () => {
  armFailpoints([{ name: 'email-after-write', action: 'throw', after: 0 }]);
  await signUp('cut@example.com');
  await eventually(() => world.logs.some((line) => JSON.stringify(line).includes('failpoint email-after-write')));
  armFailpoints([]);
  await waitForRuns(world, 'WorkflowType = "sendEmail" AND ExecutionStatus = "Completed"', 2);
  const files = await readdir(join(world.mailFolder, 'cut@example.com'));
  await eventually(async () => (await readdir(join(world.mailFolder, 'cut@example.com'))).length === 1);
  expect(files.every((file) => file.endsWith('.eml'))).toBe(true);
});

test('a mail that would say what is not true any more is not sent', async () => {
  await signUp('outdated@example.com');
  const [mail] = await waitForMails(world, 'outdated@example.com');
  const about = await verificationOf('outdated@example.com');
  await world.client().post('/v1/verify', { token: tokenIn(mail as string), password: 'correct horse battery' });
  expect(await send({ key: 'confirmed', template: 'verify-address', about })).toBe('outdated');
  expect(await send({ key: 'nobody', template: 'welcome', userId: '01J00000000000000000000000' })).toBe('outdated');
  await eventually(() => isSettled(world));
  // The first one, and the welcome.
  expect(await waitForMails(world, 'outdated@example.com', 2)).toHaveLength(2);
});

test('of two mails asked for one after the other both are sent, and both links work', async () => {
  const worker = await openWorld();
  try {
    const client = worker.client();
    const person = { email: 'two@example.com', password: 'correct horse battery' };
    await client.post('/v1/register', person);
    worker.clock.advance(10 * 60_000);
    await client.post('/v1/resend', { email: person.email });
    const running = await worker.startWorker();
    await eventually(() => isSettled(worker));
    await waitForRuns(worker, 'WorkflowType = "sendEmail" AND ExecutionStatus = "Completed"', 2);
    const tokens = (await mailsTo(worker, person.email)).map(tokenIn);
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens)
      expectProblem(
        await client.post('/v1/verify', { token, password: 'another horse battery' }),
        'invalid_credentials',
      );
    await running.stop();
  } finally {
    await worker.close();
  }
});

test('a mail to an address that nobody has confirmed repeats nothing that whoever signed up wrote', async () => {
  const email = 'unasked@example.com';
  const names = { first_name: 'Prize!', last_name: 'Claim at https://evil.example.net Bcc: everybody' };
  const register = (more: object) =>
    world.client().post('/v1/register', { email, password: 'correct horse battery', ...names, ...more });
  expectProblem(await register({ last_name: 'A\r\nBcc: all@example.com' }), 'invalid_input');
  expect((await register({})).status).toBe(202);
  const [mail = ''] = await waitForMails(world, email);
  expect(mail).toContain('Hello,');
  expect(mail).not.toMatch(/Prize|evil|Bcc/);
  await world.client().post('/v1/verify', { token: tokenIn(mail), password: 'correct horse battery' });
  const welcome = (await waitForMails(world, email, 2)).find((other) => other !== mail) ?? '';
  expect(welcome).toContain('Hello Prize!');
  // In the text of the mail, never among its headers.
  expect(welcome.slice(0, welcome.indexOf('\r\n\r\n'))).not.toMatch(/Bcc|evil/);
});

test('a mail for an organization that is gone is given up', async () => {
  const { user, organization } = await buildPerson(world);
  const mail = { template: 'welcome', userId: user.id, organizationId: organization.id } as const;
  expect(await send({ ...mail, key: 'in-time' })).toBe('sent');
  const deletedAt = (value: string) =>
    asOwner(world, `update organizations set deleted_at = ${value} where id = $1`, [organization.id]);
  await deletedAt('now()');
  await expect(send({ ...mail, key: 'too-late' })).rejects.toThrow();
  await deletedAt('null');
  const rows = await asOwner(world, 'select key, status from emails where organization_id = $1', [organization.id]);
  expect(rows).toEqual([{ key: 'in-time', status: 'sent' }]);
});

test('a mail is sent after all when the system role gets back a privilege that it lacked', async () => {
  await signUp('restored@example.com');
  await waitForMails(world, 'restored@example.com');
  const about = await verificationOf('restored@example.com');
  await asOwner(world, 'revoke select on email_verifications from core_system');
  const mail = await start({ key: 'after-the-restore', template: 'verify-address', about });
  await eventually(async () => {
    const { raw, status } = await mail.describe();
    return status.name !== 'RUNNING' || (raw.pendingActivities?.[0]?.attempt ?? 0) > 1;
  });
  await asOwner(world, 'grant select on email_verifications to core_system');
  expect(await mail.result()).toBe('sent');
  expect(await waitForMails(world, 'restored@example.com', 2)).toHaveLength(2);
});
