// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForMails } from '../kit/mailbox.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { startTcpProxy } from '../kit/servers/tcp-proxy.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Processes take a while to start, the more so beside others. */

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const startWorkerProcess = (environment: Record<string, string> = {}, args: string[] = []) =>
  new ProductProcess({ program: 'worker/worker-main.ts', environment: { ...world.environment, ...environment }, args });

describe.concurrent('the worker process', () => {
  test('delivers, and ends with 0 on SIGTERM', async () => {
    const worker = startWorkerProcess();
    await worker.ready;
    const email = `life-${newId().toLowerCase()}@example.com`;
    await world.client().post('/v1/register', { email, password: 'correct horse battery' });
    await waitForMails(world, email);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    expect(worker.logs.some((line) => line['msg'] === 'worker stops')).toBe(true);
  });

  test('starts before Temporal is there, says so, and gets going by itself', async () => {
    const { temporalAddress, namespace } = inject('stack');
    const proxy = await startTcpProxy(temporalAddress);
    proxy.cut();
    const worker = startWorkerProcess({ CORE_JOBQUEUE_CONNECTIONURI: `temporal://${proxy.address}/${namespace}` });
    await eventually(() => worker.logs.some((line) => String(line['msg']).includes('Temporal cannot be reached')));
    expect(worker.isRunning).toBe(true);
    proxy.restore();
    await worker.ready;
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    await proxy.close();
  });

  test('ends with 0 while it still waits for Temporal', async () => {
    const proxy = await startTcpProxy(inject('stack').temporalAddress);
    proxy.cut();
    const worker = startWorkerProcess({ CORE_JOBQUEUE_CONNECTIONURI: `temporal://${proxy.address}/nowhere` });
    await eventually(() => worker.logs.some((line) => String(line['msg']).includes('Temporal cannot be reached')));
    expect(await worker.stop('SIGINT')).toEqual({ code: 0, signal: null });
    await proxy.close();
  });

  test('ends by itself when whoever started it with a channel is gone', async () => {
    const worker = startWorkerProcess();
    await worker.ready;
    worker.abandon();
    expect(await worker.ended).toEqual({ code: 0, signal: null });
  });

  test('names what is wrong with its configuration and ends with 1', async () => {
    const worker = startWorkerProcess({
      CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: JSON.stringify([
        { name: 'x', workflow: 'noSuchWorkflow', schedule: 5_000 },
      ]),
    });
    expect(await worker.ended).toEqual({ code: 1, signal: null });
    expect(worker.output).toContain('noSuchWorkflow, which this release does not have');
    expect(worker.output).toContain('SkipUnknownJobCheck');
  });

  test('refuses queues that do not exist', async () => {
    const worker = startWorkerProcess({}, ['--queues', 'email,emails']);
    expect(await worker.ended).toEqual({ code: 1, signal: null });
    expect(worker.output).toContain('emails');
  });
});

test('events of before its start are delivered by a new worker', async () => {
  const email = `late-${newId().toLowerCase()}@example.com`;
  await world.client().post('/v1/register', { email, password: 'correct horse battery' });
  const worker = await world.startWorker();
  await eventually(() => isSettled(world));
  await worker.stop();
});
