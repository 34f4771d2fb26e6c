import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { benchTopic, openBenchInstallation, type BenchInstallation } from './installation.ts';
import { latenciesOf, paced } from './latencies.ts';
import { peerTable, startPeer } from './peer.ts';
import { percentile, type Bench } from './row.ts';

/** Commits a second, and for how long each side is measured, in milliseconds. */
const rate = 20;
const durationMs = 15_000;

/** From the commit of a transaction to the row its listener writes, at a calm pace; against graphile-worker. */
export const eventLatency: Bench = {
  name: 'event-latency',
  run: async (say) => {
    const installation = await openBenchInstallation();
    try {
      await installation.startWorker();
      await ours(installation, 3_000);
      const latencies = await ours(installation, durationMs);
      say(`ours: p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`);
      const peer = await theirs(installation);
      say(`graphile-worker: p50 ${percentile(peer, 0.5).toFixed(1)} ms, p99 ${percentile(peer, 0.99).toFixed(1)} ms`);
      return (['p50', 'p99'] as const).map((name) => {
        const share = name === 'p50' ? 0.5 : 0.99;
        return {
          name: name === 'p50' ? 'event-latency' : 'event-latency-p99',
          unit: `ms (${name})`,
          ours: percentile(latencies, share),
          reference: percentile(peer, share),
          ratio: percentile(peer, share) / percentile(latencies, share),
          spread: 0,
          note: `commit to listener at ${rate} a second; reference: graphile-worker`,
        };
      });
    } finally {
      await installation.close();
    }
  },
};

async function ours({ runtime, client }: BenchInstallation, forMs: number): Promise<number[]> {
  await client.query('truncate bench_deliveries');
  const committed = new Map<string, number>();
  await paced(rate, forMs, async () => {
    const entityId = newId();
    await runtime.database.transact({ caller: systemCaller('bench'), requestId: newId() }, async (unit) => {
      unit.emit({ topic: benchTopic, entityKind: 'bench', entityId, recordVersion: 1, organizationId: null });
    });
    committed.set(entityId, Date.now());
  });
  const query = 'select e.entity_id as key, d.at from bench_deliveries d join events e on e.id = d.event_id';
  return latenciesOf(committed, () => timesByKey(client, query));
}

async function theirs({ databaseUrl, client }: BenchInstallation): Promise<number[]> {
  await client.query(peerTable);
  const runner = await startPeer(databaseUrl);
  try {
    const committed = new Map<string, number>();
    await paced(rate, durationMs, async () => {
      const key = newId();
      await runner.addJob('write_row', { key });
      committed.set(key, Date.now());
    });
    return await latenciesOf(committed, () => timesByKey(client, 'select key, at from peer_deliveries'));
  } finally {
    await runner.stop();
  }
}

/** Rows of a query with `key` and `at`, as times by key. */
async function timesByKey(client: BenchInstallation['client'], query: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ key: string; at: Date }>(query);
  return new Map(rows.map(({ key, at }) => [key, at.getTime()]));
}
