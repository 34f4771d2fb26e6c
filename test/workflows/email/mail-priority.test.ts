import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatheredMs } from '#entities/notifications/notification-sending-rows.ts';
import { FakeProviderA } from '../../kit/fakes/fake-provider-a.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson } from '../../kit/people.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { assign, ownerAndMember, prefer, sendDue } from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let provider: FakeProviderA;

beforeAll(async () => {
  provider = await FakeProviderA.start();
  world = await openWorld({
    environment: {
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providera',
      CORE_INTEGRATIONS_EMAIL_PROVIDERA_APIKEY: provider.apiKey,
      CORE_JOBQUEUE_QUEUECONF_QUEUES: JSON.stringify({ email: { MaxWorkers: 1 } }),
    },
    emailProviders: { urls: { providera: provider.url } },
  });
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

test('e-mails about security go before notifications, and nobody can turn them off', async () => {
  const count = 20;
  // What makes e-mails goes on, and their sending does not, so a queue of them grows.
  const others = await world.startWorker(['workflows', 'events', 'maintenance']);
  const { owner } = await ownerAndMember(world);
  await prefer(owner.client, { channel: 'email', cadence: 'mute' });
  for (let index = 0; index < count; index++) {
    const person = await buildPerson(world, { organization: owner.person.organization, role: 'member' });
    await assign(owner.client, person, `task ${index}`);
  }
  await eventually(() => isSettled(world));
  world.clock.advance(gatheredMs);
  await sendDue(world);
  const { client } = world.runtime.temporal;
  const query = `ExecutionStatus = "Running" AND WorkflowType = "sendEmail" AND WorkflowId STARTS_WITH "${world.name}/"`;
  await eventually(async () => (await client.workflow.count(query)).count === count);
  const answer = await world.client().post('/v1/forgot-password', { email: owner.person.user.email });
  expect(answer.status).toBeLessThan(300);
  await eventually(async () => (await client.workflow.count(query)).count === count + 1);
  const sending = await world.startWorker(['email']);
  await eventually(() => provider.accepted.length === count + 1);
  const recipients = provider.accepted.map(({ to }) => to[0]);
  expect(recipients).toHaveLength(count + 1);
  // It was the last in the queue. A worker asks for several tasks at the same time, so those that it is given together come in any order.
  expect(recipients.indexOf(owner.person.user.email)).toBeLessThan(count - 4);
  await Promise.all([others.stop(), sending.stop()]);
});
