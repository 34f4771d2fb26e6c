import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForMails } from '../kit/mailbox.ts';
import { scrape } from '../kit/scrape.ts';
import { ProductProcess } from '../kit/spawned-process.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Processes take a while to start, the more so beside others. */
const patience = { timeout: 600_000 };

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/**
 * What a worker process with these settings exports after it has sent a mail.
 * @returns values by name and labels
 */
async function exported(settings: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, number>> {
  const worker = new ProductProcess({
    program: 'worker/worker-main.ts',
    environment: { ...world.environment, CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true', ...settings },
  });
  try {
    await worker.ready;
    const email = `metrics-${newId().toLowerCase()}@example.com`;
    await world.client().post('/v1/register', { email, password: 'correct horse battery' });
    await waitForMails(world, email);
    await eventually(() => worker.logs.some((line) => line['msg'] === 'worker ready'));
    const { metricsUrl } = worker;
    // The library hands its figures over once the activity is reported.
    const last = settings === off ? 'core_delivery_lag_seconds_count' : 'temporal_activity_execution_latency';
    return await eventually(async () => {
      const { values } = await scrape(metricsUrl);
      return [...values].some(([name, value]) => name.startsWith(last) && value > 0) && values;
    });
  } finally {
    await worker.stop();
  }
}

const off = {};
const on = { CORE_JOBQUEUE_METRICS_ENABLEMETRICS: 'true' };

/** Metrics, without their labels. */
const namesOf = (values: ReadonlyMap<string, number>) =>
  new Set([...values.keys()].map((name) => name.replace(/\{.*$/u, '')));

/** The one value of this name whose labels hold all of these. */
function valueOf(values: ReadonlyMap<string, number>, name: string, ...labels: readonly string[]) {
  return [...values].find(([key]) => key.startsWith(`${name}{`) && labels.every((label) => key.includes(label)))?.[1];
}

test('without enablemetrics a worker exports its own metrics, and none of the job queue', patience, async () => {
  const values = await exported(off);
  const names = [...namesOf(values)];
  expect(names.filter((name) => /^(?:temporal|messaging|core_job)_/.test(name))).toEqual([]);
  expect(valueOf(values, 'core_relay_batches_total', 'outcome="started"')).toBeGreaterThan(0);
  expect(valueOf(values, 'core_deliveries_total', 'listener="mail-verification"', 'outcome="done"')).toBe(1);
  expect(valueOf(values, 'core_database_connections', 'state="max"')).toBe(8);
  expect(valueOf(values, 'core_unit_of_work_duration_seconds_count', 'committed')).toBeGreaterThan(0);
  for (const name of ['core_backlog_known', 'core_outbox_lag_seconds', 'process_resident_memory_bytes'])
    expect(names).toContain(name);
});

describe('with enablemetrics', patience, () => {
  test('starts of workflows, attempts of activities and the library are counted and measured, in milliseconds', async () => {
    const values = await exported({ ...on, CORE_JOBQUEUE_QUEUECONF_WORKERMIDDLEWARE: 'metrics' });
    expect(valueOf(values, 'core_jobs_total', 'layer="client"', 'name="sendEmail"', 'outcome="done"')).toBe(1);
    const mail = ['layer="WorkerMiddleware"', 'type="activity"', 'name="deliverEmail"'];
    expect(valueOf(values, 'core_jobs_total', ...mail, 'outcome="done"')).toBe(1);
    expect(valueOf(values, 'core_job_duration_milliseconds_sum', ...mail)).toBeGreaterThan(1);
    const names = namesOf(values);
    expect(names).toContain('temporal_activity_execution_latency_milliseconds_sum');
    const ofQueue = [...names].filter((name) => /^(?:temporal|core_job)_/.test(name));
    expect(ofQueue.filter((name) => name.includes('seconds') && !name.includes('milliseconds'))).toEqual([]);
  });

  test('metricsdurationunit gives every duration in seconds', async () => {
    const values = await exported({
      ...on,
      CORE_JOBQUEUE_METRICS_METRICSDURATIONUNIT: 's',
      CORE_JOBQUEUE_QUEUECONF_WORKERMIDDLEWARE: 'metrics',
    });
    const spent = valueOf(values, 'core_job_duration_seconds_sum', 'name="deliverEmail"', 'layer="WorkerMiddleware"');
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeLessThan(30);
    const latency = valueOf(values, 'temporal_activity_execution_latency_seconds_sum', 'activity_type="deliverEmail"');
    expect(latency).toBeGreaterThan(0);
    expect(latency).toBeLessThan(30);
    expect([...namesOf(values)].filter((name) => name.includes('milliseconds'))).toEqual([]);
  });

  test('enablesemanticmetrics adds those of the OpenTelemetry messaging conventions, and off leaves them out', async () => {
    const added = await exported({ ...on, CORE_JOBQUEUE_METRICS_ENABLESEMANTICMETRICS: 'true' });
    const queue = `messaging_destination_name="${world.name}/email"`;
    expect(valueOf(added, 'messaging_process_duration_count', queue, 'messaging_operation_name="deliverEmail"')).toBe(
      1,
    );
    const starts = ['messaging_system="temporal"', 'messaging_operation_name="sendEmail"'];
    expect(valueOf(added, 'messaging_client_sent_messages_total', ...starts)).toBe(1);
    const without = await exported({ ...on, CORE_JOBQUEUE_METRICS_ENABLESEMANTICMETRICS: 'false' });
    expect([...namesOf(without)].filter((name) => name.startsWith('messaging_'))).toEqual([]);
  });
});
