// Left to npm run prove; npm test has test/api/http/exported-metrics.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForMails } from '../kit/mailbox.ts';
import { scrape, type Scrape } from '../kit/processes/scrape.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { shows } from '../kit/shows.ts';
import { openWorld, type World } from '../kit/world.ts';
import { alerts, dashboards, documented, has, labelsIn, metricsIn, queries } from './operating-page.ts';

/** Processes take a while to start, the more so beside others. */

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
  return (await measured(settings)).values;
}

/** What it exports, and the lines that it logs. */
async function measured(
  settings: Readonly<Record<string, string>>,
): Promise<Scrape & { readonly logs: readonly Record<string, unknown>[] }> {
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
      const found = await scrape(metricsUrl);
      return (
        [...found.values].some(([name, value]) => name.startsWith(last) && value > 0) && { ...found, logs: worker.logs }
      );
    });
  } finally {
    await worker.stop();
  }
}

const off = {};
/** What a worker exports that measures all it can, started once. */
let started: ReturnType<typeof measured> | undefined;
const everything = () =>
  (started ??= measured({
    ...on,
    CORE_JOBQUEUE_METRICS_ENABLESEMANTICMETRICS: 'true',
    CORE_JOBQUEUE_QUEUECONF_WORKERMIDDLEWARE: 'metrics',
  }));
const on = { CORE_JOBQUEUE_METRICS_ENABLEMETRICS: 'true' };

/** Metrics, without their labels. */
const namesOf = (values: ReadonlyMap<string, number>) =>
  new Set([...values.keys()].map((name) => name.replace(/\{.*$/u, '')));

/** The one value of this name whose labels hold all of these. */
function valueOf(values: ReadonlyMap<string, number>, name: string, ...labels: readonly string[]) {
  return [...values].find(([key]) => key.startsWith(`${name}{`) && labels.every((label) => key.includes(label)))?.[1];
}

test('without enablemetrics a worker exports its own metrics, and none of the job queue', async () => {
  shows('jobqueue.metrics.enablemetrics');
  const values = await exported(off);
  const names = [...namesOf(values)];
  expect(names.filter((name) => /^(?:temporal|messaging|core_job)_/.test(name))).toEqual([]);
  expect(valueOf(values, 'core_relay_batches_total', 'outcome="started"')).toBeGreaterThan(0);
  expect(valueOf(values, 'core_deliveries_total', 'listener="mail-verification"', 'outcome="done"')).toBe(1);
  expect(valueOf(values, 'core_database_connections', 'status="max"')).toBe(8);
  expect(valueOf(values, 'core_unit_of_work_duration_seconds_count', 'committed')).toBeGreaterThan(0);
  for (const name of ['core_backlog_known', 'core_outbox_lag_seconds', 'process_resident_memory_bytes'])
    expect(names).toContain(name);
});

describe('with enablemetrics', () => {
  test('starts of workflows, attempts of activities and the library are counted and measured, in milliseconds', async () => {
    const { values } = await everything();
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
    shows('jobqueue.metrics.metricsdurationunit');
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
    shows('jobqueue.metrics.enablesemanticmetrics');
    const { values: added } = await everything();
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

describe('the page Operating, dashboards and alerts', () => {
  /** API and worker, of the same installation. */
  const both = () => (scraped ??= scrapeBoth());
  let scraped: Promise<readonly Scrape[]> | undefined;

  async function scrapeBoth(): Promise<readonly Scrape[]> {
    const { metricsUrl } = await world.listen();
    const client = world.client();
    await client.graphql('{ self { id } }');
    await client.graphql('{ nope }');
    return [await scrape(metricsUrl), await everything()];
  }

  test('every metric that a dashboard or an alert names is exported, with the labels that it uses', async () => {
    const scrapes = await both();
    expect(queries.length).toBeGreaterThan(50);
    for (const { where, expression } of queries) {
      const names = metricsIn(expression);
      expect(names.length, where).toBeGreaterThan(0);
      for (const name of names) {
        expect(
          scrapes.some((found) => has(found, name)),
          `${where}: ${name}`,
        ).toBe(true);
        const samples = scrapes.flatMap(({ values }) => [...values.keys()].filter((key) => key.startsWith(`${name}{`)));
        // Error types are those of attempts that failed.
        for (const label of labelsIn(expression).filter((one) => samples.length > 0 && one !== 'error_type'))
          expect(
            samples.some((key) => key.includes(`${label}="`)),
            `${where}: ${name}{${label}}`,
          ).toBe(true);
      }
    }
  });

  test('the page has every metric of ours, and no other', async () => {
    const ours = (await both()).flatMap(({ types }) =>
      [...types.keys()].filter((name) => /^(?:core|storage|messaging)_/.test(name)),
    );
    expect([...new Set(ours)].toSorted()).toEqual(documented.metrics.toSorted());
  });

  test('every alert has its severity, a summary and a chapter that says what to do', () => {
    expect(alerts.map(({ alert }) => alert).toSorted()).toEqual(documented.alerts.toSorted());
    for (const { alert, expr, for: during, labels, annotations } of alerts) {
      expect(annotations.runbook).toBe(`docs/operating.md#${alert.toLowerCase()}`);
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(annotations.summary.length, alert).toBeGreaterThan(10);
      expect(during).toMatch(/^\d+m$/);
      expect(expr.split('(').length, alert).toBe(expr.split(')').length);
    }
  });

  test('dashboards have panels of their own ids, whose legends are labels of their queries', () => {
    for (const { title, panels } of dashboards) {
      expect(new Set(panels.map(({ id }) => id)).size, title).toBe(panels.length);
      for (const { targets = [], title: panel } of panels)
        for (const { expr, legendFormat } of targets)
          for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
            expect([...labelsIn(expr), 'instance'], panel).toContain(label);
    }
  });

  test('the page has the fields of log lines, and the dependencies of /readyz', async () => {
    const { logs } = await everything();
    await world.client().get('/v1/tasks');
    const lines = [...logs, ...world.logs];
    const request = world.logs.find(({ msg }) => msg === 'request') ?? {};
    for (const field of Object.keys(request)) expect(documented.logFields).toContain(field);
    for (const field of ['level', 'time', 'service', 'pid', 'msg', 'request_id', 'trace_id', 'route', 'statements'])
      expect(
        lines.some((line) => line[field] !== undefined),
        field,
      ).toBe(true);
    const { body } = await world.client().get('/readyz');
    for (const name of Object.keys(body.checks))
      expect(
        documented.health.some((one) => name === one || (one.endsWith('_') && name.startsWith(one))),
        name,
      ).toBe(true);
  });
});
