import { afterAll, beforeAll, expect, test } from 'vitest';
import { integration, integrationWebhook } from '#entities/index.ts';
import { runOperatorCommand } from '#tools/commands/operator-commands.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { customerOf, foundOnTrial, openReceivingWorld } from '../../kit/billing/reconciled-organization.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { enroll, type Authenticator } from '../../kit/identity/authenticator.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';

const url = '/v1/operations/removals';

let billed: BilledWorld;
let operator: TestClient;
let app: Authenticator;
beforeAll(async () => {
  billed = await openReceivingWorld({ worker: true });
  const { world } = billed;
  const person = await buildPerson(world);
  operator = await signedIn(world, person);
  ({ app } = await enroll(world, operator));
  const grant = { name: 'grant', person: person.user.email, by: 'somebody@machine', reason: 'duty' } as const;
  await runOperatorCommand(grant, { runtime: world.runtime, print: () => {} });
});
afterAll(() => billed.close());

test('operators list removals of the installation; other people do not', async () => {
  const { world } = billed;
  expectProblem(await (await signedIn(world, await buildPerson(world))).get(url), 'permission_denied');
  expectProblem(await operator.get(`${url}?after=nothing`), 'invalid_input');

  const people = [await foundOnTrial(billed), await foundOnTrial(billed)];
  for (const { user, organization } of people) {
    await customerOf(billed, organization.id);
    const client = await signedIn(world, { user, organization });
    expect((await client.mutate({ method: 'DELETE', url: `/v1/organizations/${organization.id}` })).status).toBe(204);
  }
  const [first, second] = people.map(({ user, organization }) => ({
    organization_id: organization.id,
    organization_name: organization.name,
    requester_id: user.id,
    status: 'completed',
    open_steps: [],
    skipped_steps: [],
    work_id: null,
    failing_step: null,
    error: null,
  }));
  const done = await eventually(async () => {
    const { data } = (await operator.get(url)).body;
    return data.every(({ status }: { status: string }) => status === 'completed') && data;
  });
  expect(done).toMatchObject([second, first]);
  expect(done[0].removed_records).toBe(done[0].total_records);
  expect((await operator.get(`${url}?after=${done[0].id}`)).body.data).toMatchObject([first]);
  expect((await operator.get(`${url}?first=1`)).body.data).toMatchObject([second]);
  expect((await operator.get(`${url}?is_open=true`)).body.data).toEqual([]);
});

test('a removal waits for a cancellation that fails; an operator skips it, and the contents are removed', async () => {
  const { world, fake } = billed;
  const { user, organization } = await foundOnTrial(billed);
  const customer = await customerOf(billed, organization.id);
  fake.behave('fail', { method: 'DELETE', times: 1_000 });
  const client = await signedIn(world, { user, organization });
  expect((await client.mutate({ method: 'DELETE', url: `/v1/organizations/${organization.id}` })).status).toBe(204);
  const failing = await eventually(async () => {
    const [open] = (await operator.get(`${url}?is_open=true`)).body.data;
    return open?.work_id && open;
  }, 120_000);
  expect(failing).toMatchObject({
    organization_id: organization.id,
    status: 'pending',
    // The others have ended.
    open_steps: ['cancelSubscriptions', 'removeContents', 'reportRemoval'],
    total_records: null,
    failing_step: 'cancelSubscriptions',
    error: expect.any(String),
  });
  expect((await operator.post('/v1/2fa/step-up', { code: await app.nextCode() })).status).toBe(200);
  const stopped = await operator.post(`/v1/operations/work/${failing.work_id}/stop`, { reason: 'it is ended by hand' });
  expect(stopped).toMatchObject({ status: 202, body: { done: expect.stringContaining('The step is skipped') } });
  const removed = await eventually(async () => {
    const [newest] = (await operator.get(url)).body.data;
    return newest.status === 'completed' && newest;
  });
  expect(removed).toMatchObject({
    organization_id: organization.id,
    work_id: null,
    failing_step: null,
    open_steps: [],
    skipped_steps: ['cancelSubscriptions'],
  });
  expect(removed.removed_records).toBeGreaterThan(0);
  fake.behaveWell();
  expect(fake.ledger.subscriptionsOf(customer)).toMatchObject([{ status: 'trialing' }]);
});

test('a step that fails in the database waits for an operator, and the others end; it is skipped', async () => {
  const { world } = billed;
  const { user, organization } = await foundOnTrial(billed);
  await customerOf(billed, organization.id);
  await asSystem(world, organization.id, async (data) => {
    const { id: integrationId } = await data.create(integration, { name: 'chat' });
    await data.create(integrationWebhook, { integrationId, name: 'events', secret: 'x', allowedEvents: [] });
  });
  await asOwner(
    world,
    `create function refuse_removal() returns trigger language plpgsql as $$ begin raise exception 'the disk is full'; end $$;
     create trigger refuse_removal before update on integration_webhooks for each row execute function refuse_removal()`,
  );
  const client = await signedIn(world, { user, organization });
  expect((await client.mutate({ method: 'DELETE', url: `/v1/organizations/${organization.id}` })).status).toBe(204);
  const failing = await eventually(async () => {
    const [open] = (await operator.get(`${url}?is_open=true`)).body.data;
    return open?.failing_step === 'disconnectIntegrations' && !open.open_steps.includes('stopWorkflows') && open;
  }, 60_000);
  expect(failing).toMatchObject({ organization_id: organization.id, error: expect.any(String) });
  expect(failing.open_steps).not.toContain('cancelSubscriptions');
  expect((await operator.post('/v1/2fa/step-up', { code: await app.nextCode() })).status).toBe(200);
  const stop = `/v1/operations/work/${failing.work_id}/stop`;
  expect((await operator.post(stop, { reason: 'by hand' })).status).toBe(202);
  await asOwner(world, 'drop trigger refuse_removal on integration_webhooks; drop function refuse_removal()');
  const removed = await eventually(async () => {
    const [newest] = (await operator.get(url)).body.data;
    return newest.status === 'completed' && newest;
  }, 60_000);
  expect(removed).toMatchObject({ open_steps: [], skipped_steps: ['disconnectIntegrations'] });
});
