import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { mailsTo, tokenIn, waitForMails } from '../kit/mailbox.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

test('a sign-up becomes a row, an event, a finished workflow and a mail, all found by the request id', async () => {
  const client = world.client();
  const registered = await client.post('/v1/register', {
    email: 'Ada@Example.com',
    password: 'correct horse battery',
    first_name: 'Ada',
  });
  expect(registered.status).toBe(202);
  const requestId = registered.headers['x-request-id'] as string;

  const [mail] = await waitForMails(world, 'ada@example.com');
  const { client: temporal } = world.runtime.temporal;
  const runs = await eventually(async () => {
    const found = await Array.fromAsync(temporal.workflow.list({ query: `RequestId = "${requestId}"` }));
    return found.length === 2 && found.every((run) => run.status.name === 'COMPLETED') && found;
  });
  expect(runs.map((run) => run.type).toSorted()).toEqual(['deliverEvents', 'sendEmail']);

  const verified = await client.post('/v1/verify', {
    token: tokenIn(mail as string),
    password: 'correct horse battery',
  });
  expect(verified.body).toMatchObject({ email: 'ada@example.com' });
  await waitForMails(world, 'ada@example.com', 2);

  const login = await client.post('/v1/login', { username: 'ada@example.com', password: 'correct horse battery' });
  expect(login.status).toBe(200);
  const settings = await eventually(async () => {
    const answer = await client.graphql(
      '{ self { email } organizations { edges { node { isPersonal } } } organizationSettings { edges { node { billingEmail } } } }',
    );
    return answer.data?.organizationSettings.edges.length === 1 && answer.data;
  });
  expect(settings).toEqual({
    self: { email: 'ada@example.com' },
    organizations: { edges: [{ node: { isPersonal: true } }] },
    organizationSettings: { edges: [{ node: { billingEmail: 'ada@example.com' } }] },
  });
  expect(await mailsTo(world, 'ada@example.com')).toHaveLength(2);
});
