import { createRequire } from 'node:module';
import type { WebhookDefinition } from '@octokit/webhooks-examples';
import { sign } from '@octokit/webhooks-methods';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { integration } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

// A JSON document.
const definitions = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly WebhookDefinition[];

const url = '/v1/codehost/app/webhook';
const secret = 'secret of the app';

let world: World;
let person: Person;
beforeAll(async () => {
  world = await openWorld({
    // Loops begin, but ask nobody.
    worker: ['workflows', 'maintenance'],
    environment: { CORE_INTEGRATIONS_CODEHOSTAPP_WEBHOOKSECRET: secret },
  });
  person = await buildPerson(world);
});
afterAll(() => world.close());

interface Sent {
  readonly event: string;
  readonly body: string;
  readonly id?: string;
  readonly signature?: string;
}

async function send({ event, body, id = newId(), signature }: Sent): Promise<TestAnswer> {
  return world.client().request({
    method: 'POST',
    url,
    headers: {
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': signature ?? (await sign(secret, body)),
      'content-type': 'application/json',
    },
    payload: body,
  });
}

/** An integration that is connected to an installation of the app. */
async function connected(accountId: string): Promise<string> {
  const client = await signedIn(world, person);
  const { id } = (await client.post('/v1/integrations', { name: newId(), definition_id: 'codehostapp' })).body;
  await asSystem(world, person.organization.id, (data) =>
    data.update(integration, id, { status: 'connected', accountId }),
  );
  return id;
}

const readIntegration = (id: string) =>
  asSystem(world, person.organization.id, (data) => data.findOne(integration, { id: { eq: id } }));

const storedTypes = async (): Promise<readonly string[]> =>
  (await asOwner<{ readonly type: string }>(world, 'select type from webhook_events order by id')).map(
    ({ type }) => type,
  );

let lastInstallation = 6_000;

/** How often the loop of an integration was woken. */
async function wakesOf(integrationId: string): Promise<number> {
  const { client } = world.runtime.temporal;
  const handle = client.workflow.getHandle(`${world.name}/integration-loop/${integrationId}/directorySync`);
  const { events } = await handle.fetchHistory().catch(() => ({ events: [] }));
  return (events ?? []).filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal).length;
}

const reported = (action: string, installationId: number) =>
  JSON.stringify({ action, installation: { id: installationId, account: { login: 'org' } }, sender: { id: 1 } });

test('an uninstalled app stops its integration, which says what to do', async () => {
  const [integrationId, other] = [await connected('5101'), await connected('5102')];
  expect((await send({ event: 'installation', body: reported('deleted', 5101) })).status).toBe(200);
  await eventually(() => isSettled(world));
  expect(await readIntegration(integrationId)).toMatchObject({
    status: 'errored',
    errorCode: 'unauthorized',
    errorMessage: 'The app was uninstalled at the code host. Connect the integration again.',
  });
  expect(await readIntegration(other)).toMatchObject({ status: 'connected' });
});

test('a suspended installation stops its integration, and the end of the suspension has it looked at', async () => {
  const integrationId = await connected('5103');
  await send({ event: 'installation', body: reported('suspend', 5103) });
  await eventually(() => isSettled(world));
  const suspended = await readIntegration(integrationId);
  expect(suspended).toMatchObject({ status: 'errored', errorMessage: expect.stringContaining('suspended') });
  await send({ event: 'installation', body: reported('unsuspend', 5103) });
  await eventually(() => isSettled(world));
  const next = (await readIntegration(integrationId))?.nextProbeAt?.getTime() ?? Number.NaN;
  expect(next).toBeLessThan(suspended?.nextProbeAt?.getTime() ?? 0);
});

test.each(['membership.added', 'organization.member_removed', 'team.edited'])(
  'the event %s wakes the loop of the integration',
  async (type) => {
    const [event = '', action = ''] = type.split('.');
    const installationId = ++lastInstallation;
    const integrationId = await connected(String(installationId));
    await eventually(async () => (await wakesOf(integrationId)) === 1);
    await send({ event, body: reported(action, installationId) });
    await eventually(async () => (await wakesOf(integrationId)) === 2);
  },
);

test('T-94: a delivery that is repeated has no second effect', async () => {
  const before = await storedTypes();
  const delivery = { event: 'installation', body: reported('deleted', 5104), id: newId() };
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(delivery)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(await storedTypes()).toHaveLength(before.length + 1);
});

test('an unknown installation, an unknown event and a ping are answered with 200', async () => {
  const before = await storedTypes();
  expect((await send({ event: 'installation', body: reported('deleted', 999) })).status).toBe(200);
  expect((await send({ event: 'ping', body: JSON.stringify({ zen: 'x', hook_id: 1 }) })).status).toBe(200);
  expect((await send({ event: 'issues', body: reported('opened', 5104) })).status).toBe(200);
  expect((await send({ event: 'installation', body: reported('deleted', 1.5) })).status).toBe(200);
  expect((await send({ event: 'installation', body: reported('deleted', 5104), id: 'a b' })).status).toBe(200);
  expect(await storedTypes()).toEqual([...before, 'installation.deleted']);
});

test.each([
  ['without a signature', ''],
  ['with one of another algorithm', 'sha1=00'],
  ['with one of another secret', undefined],
])('T-90: an event %s is refused', async (_what, given) => {
  const body = reported('deleted', 5104);
  const signature = given ?? (await sign('another secret', body));
  const before = await storedTypes();
  expectProblem(await send({ event: 'installation', body, signature }), 'invalid_signature');
  expect(await storedTypes()).toEqual(before);
});

test('a signature is one of the bytes of the body', async () => {
  const signature = await sign(secret, reported('deleted', 5104));
  const spaced = JSON.stringify(JSON.parse(reported('deleted', 5104)), null, 1);
  expectProblem(await send({ event: 'installation', body: spaced, signature }), 'invalid_signature');
  expectProblem(await send({ event: 'installation', body: '', signature }), 'invalid_signature');
});

test('T-92: a body of more than a mebibyte is refused before its signature is looked at', async () => {
  const body = JSON.stringify({ padding: 'x'.repeat(1_048_576) });
  expectProblem(await send({ event: 'installation', body, signature: 'sha256=00' }), 'body_too_large');
});

test('T-90: without a secret, no event is accepted, however it is signed', async () => {
  await world.reconfigure({ CORE_INTEGRATIONS_CODEHOSTAPP_WEBHOOKSECRET: undefined });
  try {
    const body = reported('deleted', 5104);
    expectProblem(await send({ event: 'installation', body }), 'route_not_found');
    expectProblem(await send({ event: 'installation', body, signature: '' }), 'route_not_found');
  } finally {
    await world.reconfigure({ CORE_INTEGRATIONS_CODEHOSTAPP_WEBHOOKSECRET: secret });
  }
  shows('integrations.codehostapp.webhooksecret');
});

test('every example of the code host is answered with 200, and only events that are acted on are recorded', async () => {
  const before = await storedTypes();
  const recorded: string[] = [];
  for (const { name, examples: ofEvent } of definitions)
    for (const example of ofEvent) {
      const body = JSON.stringify(example);
      expect((await send({ event: name, body })).status).toBe(200);
      const { action, installation } = example as { readonly action?: string; readonly installation?: object };
      if (action !== undefined && installation) recorded.push(`${name}.${action}`);
    }
  const added = (await storedTypes()).slice(before.length);
  expect(added.length).toBeGreaterThan(0);
  expect(added.filter((type) => !recorded.includes(type))).toEqual([]);
  expect(new Set(added.map((type) => type.split('.')[0]))).toEqual(
    new Set(['installation', 'membership', 'organization', 'team']),
  );
});
