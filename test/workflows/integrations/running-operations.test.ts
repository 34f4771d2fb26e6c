import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProviderError } from '#activities/clients/integrations/provider-error.ts';
import { loopActivities } from '#activities/integrations/loops/loop-activities.ts';
import { createRunActivities } from '#activities/integrations/runs/run-activities.ts';
import { integration } from '#entities/index.ts';
import { loopPauses, reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { asSystem } from '../../kit/as-person.ts';
import { eventually } from '../../kit/eventually.ts';
import { accountOf, ingestGround, pagesOf, type IngestGround } from '../../kit/integrations/ingest-ground.ts';
import { startOwnWorker } from '../../kit/integrations/own-worker.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let stopWorker: () => Promise<void>;
let ground: IngestGround;
beforeAll(async () => {
  world = await openWorld({ worker: ['workflows', 'maintenance'] });
  ground = await ingestGround(world);
  stopWorker = await startOwnWorker(world, 'integrations', {
    ...createRunActivities(ground.dependencies),
    ...loopActivities(ground.dependencies),
  });
});
afterAll(async () => {
  await stopWorker();
  await world.close();
});

const endOf = (runId: string) =>
  eventually(async () => {
    const run = await ground.run(runId);
    return run.endedAt !== null && run;
  });

const handleOf = (workflowId: string) =>
  world.runtime.temporal.client.workflow.getHandle(`${world.name}/${workflowId}`);

describe('a run that was requested', () => {
  test('is made by its workflow, whose history has nothing of records', async () => {
    ground.answer = pagesOf([accountOf(1)], [accountOf(2)]);
    const { id } = await ground.request();
    expect(await endOf(id)).toMatchObject({ status: 'succeeded', createdRecords: 2 });
    const handle = handleOf(`integration-run/${id}`);
    await handle.result();
    const read = await asSystem(world, ground.owner.organization.id, (data) =>
      data.get(integration, ground.integrationId),
    );
    expect(read.lastSyncAt).not.toBeNull();
    const text = JSON.stringify(await handle.fetchHistory());
    expect(text).not.toContain('example.com');
  });

  test('is repeated after the pause that the other system asks for, and ends with its reason when it is refused', async () => {
    let failures = 2;
    ground.answer = (cursor) => {
      if (failures-- > 0)
        throw new ProviderError('rate_limited', 'Too many requests. The server tries again by itself.', {
          retryAfterMs: 50,
        });
      return pagesOf([accountOf(1), accountOf(2)])(cursor);
    };
    const { id } = await ground.request();
    expect(await endOf(id)).toMatchObject({ status: 'succeeded', unchangedRecords: 2, errorCode: null });
    ground.answer = () => {
      throw new ProviderError(
        'unauthorized',
        'The other system refuses the credential. Connect the integration again.',
      );
    };
    const refused = await ground.request();
    expect(await endOf(refused.id)).toMatchObject({
      status: 'failed',
      errorCode: 'unauthorized',
      errorMessage: expect.stringContaining('Connect the integration again'),
    });
  });

  test('waits for a manager who confirms what it removes, over REST or GraphQL', async () => {
    ground.answer = pagesOf(['a', 'b', 'c', 'd'].map((id) => accountOf(id)));
    const first = await ground.request();
    await eventually(
      async () => (await ground.run(first.id)).status === 'waiting' || (await ground.run(first.id)).endedAt !== null,
    );
    ground.answer = pagesOf([accountOf('a')]);
    const { id } = await ground.request();
    await eventually(async () => (await ground.run(id)).status === 'waiting');
    expect((await ground.run(id)).pendingRemovals).toBeGreaterThan(2);
    const owner = await signedIn(world, ground.owner);
    const member = await signedIn(
      world,
      await buildPerson(world, { organization: ground.owner.organization, role: 'member' }),
    );
    const auditor = await signedIn(
      world,
      await buildPerson(world, { organization: ground.owner.organization, role: 'auditor' }),
    );
    expect((await member.post(`/v1/integration-runs/${id}/confirm`, {})).status).toBe(404);
    expect((await auditor.post(`/v1/integration-runs/${id}/confirm`, {})).body).toMatchObject({
      code: 'permission_denied',
    });
    const confirmed = await owner.post(`/v1/integration-runs/${id}/confirm`, {});
    expect(confirmed.body).toMatchObject({ id, status: 'running' });
    const ended = await endOf(id);
    expect(ended).toMatchObject({ status: 'succeeded', pendingRemovals: 0 });
    expect((await ground.accounts()).map(({ externalId }) => externalId)).toEqual(['a']);
    const again = await owner.graphql(`mutation { confirmIntegrationRun(id: "${id}") { integrationRun { id } } }`);
    expect(JSON.stringify(again)).toContain('waits for no confirmation');
  });

  test('is cancelled while it waits for the other system', async () => {
    ground.answer = () => {
      throw new ProviderError('unavailable', 'The other system does not answer. The server tries again by itself.', {
        retryAfterMs: 3_600_000,
      });
    };
    const { id } = await ground.request();
    await eventually(async () => (await ground.run(id)).errorCode === 'unavailable');
    const owner = await signedIn(world, ground.owner);
    expect((await owner.post(`/v1/integration-runs/${id}/cancel`, {})).body).toMatchObject({ id, status: 'cancelled' });
    await handleOf(`integration-run/${id}`).result();
    expect((await owner.post(`/v1/integration-runs/${id}/cancel`, {})).body).toMatchObject({ code: 'rule_violated' });
  });
});

describe('a loop', () => {
  const input = () => ({
    integrationId: ground.integrationId,
    operation: 'syncDirectory',
    organizationId: ground.owner.organization.id,
  });
  const signal = (name: string) =>
    world.runtime.temporal.wake(reconcileIntegrationContract, input(), { signal: name, search: {} });
  const row = () =>
    asSystem(world, ground.owner.organization.id, (data) => data.get(integration, ground.integrationId));
  const pauseOf = async () => {
    const { nextSyncAt, lastSyncAt } = await row();
    return (nextSyncAt?.getTime() ?? 0) - (lastSyncAt?.getTime() ?? 0);
  };

  test('rests longer after each round without changes, in three workflow tasks, and shorter after one with changes', async () => {
    ground.answer = pagesOf([accountOf('a')]);
    const handle = handleOf(reconcileIntegrationContract.workflowId({ ...input() }));
    const round = async (expectedMs: number) => {
      world.clock.advance(60_000);
      const before = (await row()).lastSyncAt?.getTime();
      await signal('runNow');
      await eventually(async () => (await row()).lastSyncAt?.getTime() !== before);
      await eventually(async () => (await pauseOf()) === expectedMs);
    };
    await round(2 * loopPauses.minMs);
    await round(4 * loopPauses.minMs);
    ground.answer = pagesOf([accountOf('a', { name: 'Other' })]);
    await round(2 * loopPauses.minMs);
    const resting = await eventually(async () => {
      const { runId } = await handle.describe();
      const { events } = await handle.fetchHistory();
      return events?.some(({ timerStartedEventAttributes: started }) => started) && runId;
    });
    await signal('runNow');
    await eventually(async () => (await handle.describe()).runId !== resting);
    const history = await world.runtime.temporal.client.workflow.getHandle(handle.workflowId, resting).fetchHistory();
    const tasks = history.events?.filter(({ workflowTaskCompletedEventAttributes: completed }) => completed).length;
    expect(tasks).toBeLessThanOrEqual(3);
  });

  test('begins at once when its settings change, and forgets how long it has rested', async () => {
    ground.answer = pagesOf([accountOf('a', { name: 'Other' })]);
    const nextRound = async (name: string) => {
      world.clock.advance(60_000);
      const before = (await row()).lastSyncAt?.getTime();
      await signal(name);
      await eventually(async () => (await row()).lastSyncAt?.getTime() !== before);
      return pauseOf();
    };
    let pauseMs = 0;
    while (pauseMs < 8 * loopPauses.minMs) pauseMs = await nextRound('runNow');
    expect(await nextRound('configChanged')).toBe(2 * loopPauses.minMs);
    expect(await nextRound('runNow')).toBe(4 * loopPauses.minMs);
  });

  test('looks at changed settings also while a pass obeys a pause of the other system', async () => {
    const handle = handleOf(reconcileIntegrationContract.workflowId({ ...input() }));
    const configure = (userInput: object) =>
      asSystem(world, ground.owner.organization.id, (data) =>
        data.update(integration, ground.integrationId, { userInput }),
      );
    ground.answer = (cursor) => {
      if (cursor === undefined) return { records: [accountOf('a')], next: '1' };
      throw new ProviderError('rate_limited', 'Too many requests. The server tries again by itself.', {
        retryAfterMs: 3_600_000,
      });
    };
    await signal('runNow');
    await eventually(async () => ground.read.at(-1) === '1');
    await configure({ disabledOperations: ['syncDirectory'] });
    await signal('configChanged');
    await eventually(async () => (await handle.describe()).status.name === 'COMPLETED');
    ground.answer = pagesOf([accountOf('a')]);
    await configure({});
    await signal('runNow');
    await eventually(async () => (await row()).nextSyncAt !== null);
  });

  test('ends when it is stopped, and when its integration is not connected any more', async () => {
    const handle = handleOf(reconcileIntegrationContract.workflowId({ ...input() }));
    await signal('stop');
    await eventually(async () => (await handle.describe()).status.name === 'COMPLETED');
    await asSystem(world, ground.owner.organization.id, (data) =>
      data.update(integration, ground.integrationId, { status: 'errored' }),
    );
    await signal('configChanged');
    await eventually(async () => (await handle.describe()).status.name === 'COMPLETED');
    expect((await row()).status).toBe('errored');
  });
});
