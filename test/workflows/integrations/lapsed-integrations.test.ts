import { afterAll, beforeAll, expect, test } from 'vitest';
import { followLapse } from '#activities/billing/follow-lapse.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { transactAs } from '../../kit/as-person.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { ChatGround } from '../../kit/integrations/chat-ground.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';

let ground: ChatGround;
beforeAll(async () => {
  ground = await ChatGround.open({ environment: { CORE_INTEGRATIONS_INTEGRATIONLIFECYCLE_DRYRUN: 'false' } });
});
afterAll(() => ground.close());

/** What billing does when an organization has not paid, or pays again. */
const lapse = (organizationId: string, isLapsed: boolean) =>
  transactAs(ground.world.runtime, systemCaller('test'), (unit) => followLapse(unit, organizationId, isLapsed));

const hourMs = 3_600_000;

test('integrations of an organization that does not pay are disabled and their loops end; both come back when it pays', async () => {
  const { world } = ground;
  const chat = await ground.connect();
  const errored = await ground.connect(chat.owner);
  const waiting = await ground.pending(chat.owner, new Date(world.clock.now().getTime() + 100 * hourMs));
  const elsewhere = await ground.connect();
  ground.refuse(errored);
  await ground.use(errored);
  await ground.hasStatus(errored, 'errored');
  await ground.loopIs(chat, 'RUNNING');
  await eventually(async () => (await ground.row(chat))?.nextSyncAt);

  await lapse(chat.owner.organization.id, true);
  expect(await ground.row(chat)).toMatchObject({ status: 'disabled', statusBeforeLapse: 'connected' });
  expect(await ground.row(errored)).toMatchObject({ status: 'disabled', statusBeforeLapse: 'errored' });
  expect(await ground.row(waiting)).toMatchObject({ status: 'disabled', statusBeforeLapse: 'pending' });
  expect((await ground.row(elsewhere))?.status).toBe('connected');
  await ground.loopIs(chat, 'COMPLETED');
  const refused = await ground.use(chat);
  expect(refused.body).toMatchObject({ code: 'integration_not_connected', detail: expect.stringContaining('pay') });
  // Nothing is done about them meanwhile, and nobody connects them.
  world.clock.advance(200 * hourMs);
  await ground.sweep();
  expect((await ground.row(waiting))?.status).toBe('disabled');
  const client = await signedIn(world, chat.owner);
  const again = { integration_id: chat.id, credential_ref: 'botToken', body: { accessToken: chat.token } };
  expectProblem(await client.post('/v1/integrations/chat/config', again), 'integration_not_connected');

  await lapse(chat.owner.organization.id, false);
  expect(await ground.row(chat)).toMatchObject({ status: 'connected', statusBeforeLapse: null });
  await ground.loopIs(chat, 'RUNNING');
  expect(await ground.row(errored)).toMatchObject({ status: 'errored', statusBeforeLapse: null });
  await ground.loopIs(errored, 'COMPLETED');
  expect((await ground.use({ ...chat, client })).status).toBe(200);
});

test('an integration that is disconnected while its organization does not pay does not come back', async () => {
  const chat = await ground.connect();
  await lapse(chat.owner.organization.id, true);
  await chat.client.post(`/v1/integrations/${chat.id}/disconnect`, { keeps_records: true });
  await ground.hasStatus(chat, 'disconnected');
  await lapse(chat.owner.organization.id, false);
  expect(await ground.row(chat)).toMatchObject({ status: 'disconnected', statusBeforeLapse: null });
});

test('the refusal of a token is shown with what to do, and one person is notified once', async () => {
  const chat = await ground.connect();
  const colleague = await ground.connect(
    await buildPerson(ground.world, { organization: chat.owner.organization, role: 'admin' }),
  );
  ground.refuse(chat);
  await Promise.all(Array.from({ length: 5 }, () => ground.use(chat)));
  await ground.hasStatus(chat, 'errored');
  const { body } = await chat.client.get(`/v1/integrations/${chat.id}`);
  expect(body).toMatchObject({
    status: 'errored',
    error_code: 'unauthorized',
    error_message: expect.stringContaining('Connect the integration again'),
    next_probe_at: expect.any(String),
  });
  await eventually(async () => (await ground.notifiedOf(chat.owner, 'errored')) > 0);
  await ground.use(chat);
  expect(await ground.notifiedOf(chat.owner, 'errored')).toBe(1);
  expect(await ground.notifiedOf(colleague.owner, 'errored')).toBe(0);
});
