import { setTimeout as pause } from 'node:timers/promises';
import { openBenchInstallation } from '../installation.ts';
import { median, percentile, spreadOf, type Bench } from '../row.ts';
import { addEndpoint, addEndpoints, endpointSettings, type BenchEndpoint } from './bench-endpoints.ts';
import { BenchSink } from './bench-sink.ts';
import { changeLatencies, textOf } from './webhook-latency.ts';

const roundMs = Number(process.env['BENCH_SECONDS'] ?? 15) * 1_000;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

/** What an endpoint waits for its messages while another one of the organization, which gets the same, never answers; against the same without. */
export const webhookNeighbours: Bench = {
  name: 'webhook-neighbours',
  run: async (say) => {
    const installation = await openBenchInstallation(endpointSettings);
    const { client } = installation;
    const sink = await BenchSink.start();
    try {
      await installation.startWorker();
      const [{ organizationId }] = (await addEndpoints(installation, 1, sink.url)) as [BenchEndpoint];
      const hanging = await addEndpoint(installation, organizationId, `${sink.url}/hang`);
      /** @param hangs otherwise, the other endpoint gets its messages and answers at once: the work is the same */
      const measure = async (hangs: boolean, forMs = roundMs) => {
        await sink.setHanging(hangs);
        // What hung before has been answered, and is recorded.
        await pause(2_000);
        // Each round finds the other endpoint as if it had never failed, and with nothing that waits.
        await client.query('delete from webhook_messages where endpoint_id = $1', [hanging.id]);
        await client.query('delete from webhook_queues where endpoint_id = $1', [hanging.id]);
        return changeLatencies(installation, sink, organizationId, forMs);
      };
      await measure(false, 3_000);
      const measured: { readonly alone: number; readonly beside: number; readonly again: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        const [alone, beside, again] = [await measure(false), await measure(true), await measure(false)];
        measured.push({ alone: p99(alone), beside: p99(beside), again: p99(again) });
        say(
          `round ${round + 1}: beside a hanging one ${textOf(beside)}; without ${textOf(alone)} and ${textOf(again)}`,
        );
      }
      const [alone, beside, again] = (['alone', 'beside', 'again'] as const).map((name) =>
        measured.map((one) => one[name]),
      ) as [number[], number[], number[]];
      const without = [...alone, ...again];
      const common = { unit: 'ms (p99)' };
      return [
        {
          ...common,
          name: 'webhook-neighbours',
          ours: median(beside),
          reference: median(without),
          ratio: median(without) / median(beside),
          spread: spreadOf(beside),
          note: 'commit to arrival beside an endpoint that never answers; reference: beside one that answers',
        },
        {
          ...common,
          name: 'webhook-neighbours-aa',
          ours: median(alone),
          reference: median(again),
          ratio: median(again) / median(alone),
          spread: spreadOf(without),
          note: 'without an endpoint that never answers, against itself in the same rounds',
        },
      ];
    } finally {
      await sink.stop();
      await installation.close();
    }
  },
};

const p99 = (latencies: readonly number[]) => percentile(latencies, 0.99);
