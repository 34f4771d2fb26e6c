import { task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { latenciesOf, paced } from '../latencies.ts';
import { openBenchInstallation, type BenchInstallation } from '../installation.ts';
import { startPeer } from '../peer.ts';
import { median, percentile, spreadOf, type Bench } from '../row.ts';
import { addEndpoints, benchContext, endpointSettings, type BenchEndpoint } from './bench-endpoints.ts';
import { BenchSink } from './bench-sink.ts';
import { jobOf, peerAttempts, sendMessage } from './message-peer.ts';

/** Commits a second, and for how long each round measures, in milliseconds. */
const rate = 20;
const roundMs = Number(process.env['BENCH_SECONDS'] ?? 15) * 1_000;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

/** From the commit of a change to the arrival of its message, at a calm pace; against graphile-worker with fetch. */
export const webhookLatency: Bench = {
  name: 'webhook-latency',
  run: async (say) => {
    const installation = await openBenchInstallation(endpointSettings);
    const sink = await BenchSink.start();
    try {
      await installation.startWorker();
      await installation.client.query(peerAttempts);
      const [endpoint] = (await addEndpoints(installation, 1, sink.url)) as [BenchEndpoint];
      const peer = await startPeer(installation.databaseUrl, { send_message: sendMessage });
      const theirs = async (forMs: number) => {
        await sink.take();
        const committed = new Map<string, number>();
        await paced(rate, forMs, async () => {
          const id = newId();
          await peer.addJob('send_message', jobOf(endpoint, id));
          committed.set(id, Date.now());
        });
        return latenciesOf(committed, () => sink.arrivals());
      };
      const ours = (forMs: number) => changeLatencies(installation, sink, endpoint.organizationId, forMs);
      try {
        await ours(3_000);
        await theirs(3_000);
        const measured: { readonly ours: readonly number[]; readonly peer: readonly number[] }[] = [];
        for (let round = 0; round < rounds; round++) {
          const both = { ours: await ours(roundMs), peer: await theirs(roundMs) };
          measured.push(both);
          say(`round ${round + 1}: ours ${textOf(both.ours)}, graphile-worker with fetch ${textOf(both.peer)}`);
        }
        return (['p50', 'p99'] as const).map((name) => {
          const share = name === 'p50' ? 0.5 : 0.99;
          const [mine, others] = [
            measured.map((one) => percentile(one.ours, share)),
            measured.map((one) => percentile(one.peer, share)),
          ];
          return {
            name: `webhook-latency-${name}`,
            unit: `ms (${name})`,
            ours: median(mine),
            reference: median(others),
            ratio: median(others) / median(mine),
            spread: spreadOf(mine),
            note: `commit to arrival at ${rate} changes a second; reference: graphile-worker with fetch`,
          };
        });
      } finally {
        await peer.stop();
      }
    } finally {
      await sink.stop();
      await installation.close();
    }
  },
};

/** Creates tasks at the pace and waits for their messages. */
export async function changeLatencies(
  { runtime, client }: Pick<BenchInstallation, 'runtime' | 'client'>,
  sink: BenchSink,
  organizationId: string,
  forMs: number,
): Promise<number[]> {
  await sink.take();
  const committed = new Map<string, number>();
  await paced(rate, forMs, async () => {
    const { id } = await runtime.database.transact(benchContext(), ({ data }) =>
      data.create(task, { organizationId, title: 'Something that somebody has to do' }),
    );
    committed.set(id, Date.now());
  });
  const { rows } = await client.query<{ id: string; entity_id: string }>(
    'select id, entity_id from events where organization_id = $1 and entity_id = any($2)',
    [organizationId, [...committed.keys()]],
  );
  const byEvent = new Map(rows.map(({ id, entity_id: taskId }) => [id, committed.get(taskId) as number]));
  return latenciesOf(byEvent, () => sink.arrivals());
}

export function textOf(latencies: readonly number[]): string {
  return `p50 ${percentile(latencies, 0.5).toFixed(0)} ms, p99 ${percentile(latencies, 0.99).toFixed(0)} ms`;
}
