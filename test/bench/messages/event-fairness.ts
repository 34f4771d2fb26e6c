import { newId } from '#entities/kit/base/ids.ts';
import { recordEvents, untilCount } from '../event-burn-down.ts';
import { benchTopic, openBenchInstallation, type BenchInstallation } from '../installation.ts';
import { latenciesOf, paced } from '../latencies.ts';
import { median, percentile, spreadOf, type Bench } from '../row.ts';
import { benchContext } from './bench-endpoints.ts';

const backlog = Number(process.env['BENCH_MESSAGES'] ?? 50_000);
/** Commits a second of the organization that is measured. */
const rate = 20;
const calmMs = Number(process.env['BENCH_SECONDS'] ?? 10) * 1_000;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

/** What the events of an organization wait while another one has a backlog, against the same without it. */
export const eventFairness: Bench = {
  name: 'event-fairness',
  run: async (say) => {
    const installation = await openBenchInstallation();
    try {
      await installation.startWorker();
      await commitAtPace(installation, () => false, 3_000);
      const measured: { readonly calm: number; readonly beside: number; readonly count: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        const calm = await commitAtPace(installation, () => false, calmMs);
        const beside = await besideBacklog(installation);
        measured.push({ calm: percentile(calm, 0.99), beside: percentile(beside, 0.99), count: beside.length });
        say(
          `round ${round + 1}: p99 ${percentile(calm, 0.99).toFixed(0)} ms calm, ${percentile(beside, 0.99).toFixed(0)} ms beside the backlog (${beside.length} events)`,
        );
      }
      const [calm, beside] = [measured.map((one) => one.calm), measured.map((one) => one.beside)];
      return [
        {
          name: 'event-fairness',
          unit: 'ms (p99)',
          ours: median(beside),
          reference: median(calm),
          ratio: median(calm) / median(beside),
          spread: spreadOf(beside),
          note: `commit to listener at ${rate} a second, beside ${backlog} waiting events of another organization, ${measured.reduce((sum, { count }) => sum + count, 0)} events; reference: without them`,
        },
      ];
    } finally {
      await installation.close();
    }
  },
};

/** Latencies of what is committed while the backlog of another organization is being delivered. */
async function besideBacklog(installation: BenchInstallation): Promise<number[]> {
  const { client } = installation;
  await client.query('truncate bench_deliveries');
  await recordEvents(client, backlog, { owners: [newId()] });
  await client.query('notify core_events');
  let isDone = false;
  const burnt = untilCount(client, 'bench_deliveries', backlog).then(() => (isDone = true));
  const latencies = await commitAtPace(installation, () => isDone);
  await burnt;
  return latencies;
}

/** @param isOver ends it before the time is over */
async function commitAtPace(
  { runtime, client }: BenchInstallation,
  isOver: () => boolean,
  forMs = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const organizationId = newId();
  const committed = new Map<string, number>();
  const until = Date.now() + forMs;
  while (Date.now() < until && !isOver())
    await paced(rate, 1_000, async () => {
      const entityId = newId();
      await runtime.database.transact(benchContext(), async (unit) => {
        unit.emit({ topic: benchTopic, entityKind: 'bench', entityId, recordVersion: 1, organizationId });
      });
      committed.set(entityId, Date.now());
    });
  return latenciesOf(committed, async () => {
    const { rows } = await client.query<{ entity_id: string; at: Date }>(
      'select e.entity_id, d.at from events e join bench_deliveries d on d.event_id = e.id where e.organization_id = $1',
      [organizationId],
    );
    return new Map(rows.map(({ entity_id: id, at }) => [id, at.getTime()]));
  });
}
