// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForMails } from '../kit/mailbox.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { openWorld } from '../kit/world.ts';

test('a worker process whose delivery stands still ends with 0, and another one delivers', async () => {
  const world = await openWorld({ environment: { CORE_JOBQUEUE_QUEUECONF_JOBSTUCKTHRESHOLD: '2000' } });
  const email = 'late@example.com';
  await world.client().post('/v1/register', { email, password: 'correct horse battery' });
  const blocker = new Client({ connectionString: world.databaseUrl });
  await blocker.connect();
  // The listener waits for this table.
  await blocker.query('begin; lock table email_verifications in access exclusive mode');
  const worker = new ProductProcess({
    program: 'worker/worker-main.ts',
    environment: { ...world.environment, CORE_JOBQUEUE_QUEUECONF_SOFTSTOPTIMEOUT: '100' },
  });
  await worker.ready;
  await eventually(async () => {
    const waiting = await asOwner(
      world,
      `select 1 from pg_stat_activity where datname = $1 and application_name = 'core worker' and wait_event_type = 'Lock'`,
      [world.name],
    );
    return waiting.length > 0;
  });
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
  expect(worker.logs.some((line) => line['level'] === 'fatal')).toBe(false);
  await blocker.end();
  const next = await world.startWorker();
  await waitForMails(world, email);
  await eventually(() => isSettled(world));
  await next.stop();
  await world.close();
});
