import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#entities/kit/base/ids.ts';
import { deliverEventsContract } from '#workflows/events/deliver-events.contract.ts';
import { benchTopic, openBenchInstallation, type BenchInstallation } from './installation.ts';
import { peerTable, startPeer } from './peer.ts';
import { median, spreadOf, type Bench } from './row.ts';

const backlog = 20_000;
/** Events of one request; a request that changes something records a few. */
const eventsPerRequest = 4;
const organizations = 50;
const rounds = 3;
/** One workflow per event takes long; this many show its rate. */
const naiveBacklog = 400;

/** Deliveries a second of a backlog; against graphile-worker, and against one workflow per event. */
export const eventBurnDown: Bench = {
  name: 'event-burn-down',
  run: async (say) => {
    const installation = await openBenchInstallation();
    try {
      await installation.startWorker();
      await preparePeer(installation);
      const [ours, peer]: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        ours.push(await burnDown(installation));
        peer.push(await peerBurnDown(installation));
        say(
          `round ${round + 1}: ours ${Math.round(ours.at(-1) as number)}, graphile-worker ${Math.round(peer.at(-1) as number)} a second`,
        );
      }
      const naive = await naiveBurnDown(installation);
      say(`one workflow per event: ${naive.toFixed(1)} a second`);
      const rate = median(ours);
      return [
        {
          name: 'event-burn-down',
          unit: 'deliveries/s',
          ours: rate,
          reference: median(peer),
          ratio: rate / median(peer),
          spread: spreadOf(ours),
          note: `${backlog} waiting events; reference: graphile-worker on the same database`,
        },
        {
          name: 'event-burn-down-naive',
          unit: 'deliveries/s',
          ours: rate,
          reference: naive,
          ratio: rate / naive,
          spread: spreadOf(ours),
          note: 'the same; reference: one workflow per event',
        },
      ];
    } finally {
      await installation.close();
    }
  },
};

async function burnDown({ client }: BenchInstallation): Promise<number> {
  await client.query('truncate bench_deliveries');
  await recordEvents(client, backlog);
  const startedAt = performance.now();
  await client.query('notify core_events');
  await untilCount(client, 'bench_deliveries', backlog);
  return backlog / ((performance.now() - startedAt) / 1_000);
}

/** Each event is a batch of its own: the relay is not asked, every workflow is started by hand. */
async function naiveBurnDown({ runtime, client }: BenchInstallation): Promise<number> {
  await client.query('truncate bench_deliveries');
  const batches = Array.from({ length: naiveBacklog }, () => newId());
  await recordEvents(client, naiveBacklog, { batches });
  const startedAt = performance.now();
  const queue = [...batches];
  const starters = Array.from({ length: 16 }, async () => {
    for (let batchId = queue.pop(); batchId !== undefined; batchId = queue.pop()) {
      await runtime.temporal.start(deliverEventsContract, { batchId }, { repeat: 'again', search: {} });
    }
  });
  await Promise.all(starters);
  await untilCount(client, 'bench_deliveries', naiveBacklog);
  return naiveBacklog / ((performance.now() - startedAt) / 1_000);
}

interface Recorded {
  /** Ids of their organizations, which take turns. */
  readonly owners?: readonly string[];
  /** Ids of their batches: with them they count as claimed. */
  readonly batches?: readonly string[];
}

/** Events as committed transactions leave them. @returns their ids */
export async function recordEvents(
  client: BenchInstallation['client'],
  count: number,
  { owners = Array.from({ length: organizations }, () => newId()), batches = [] }: Recorded = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await client.query(
    `insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id,
       payload, pending, batch_id, claimed_at)
     select id, date_trunc('milliseconds', clock_timestamp()), $2, 'bench', 'entity-' || id, 1, ($3::text[])[1 + n % cardinality($3::text[])],
       'system:bench', 'request-' || (n / $4), '{}', true, case when cardinality($5::text[]) > 0 then ($5::text[])[n] end,
       case when cardinality($5::text[]) > 0 then now() end
     from unnest($1::text[]) with ordinality as given (id, n)`,
    [ids, benchTopic, owners, eventsPerRequest, batches],
  );
  return ids;
}

async function preparePeer({ databaseUrl, client }: BenchInstallation): Promise<void> {
  await client.query(peerTable);
  // Installs its schema.
  await (await startPeer(databaseUrl)).stop();
}

async function peerBurnDown({ databaseUrl, client }: BenchInstallation): Promise<number> {
  await client.query('truncate peer_deliveries');
  await client.query(
    `select count(*) from (select graphile_worker.add_job('write_row', json_build_object('key', n)) from generate_series(1, $1) n) as added`,
    [backlog],
  );
  const startedAt = performance.now();
  const runner = await startPeer(databaseUrl);
  await untilCount(client, 'peer_deliveries', backlog);
  const rate = backlog / ((performance.now() - startedAt) / 1_000);
  await runner.stop();
  return rate;
}

/** Waits until a table has so many rows. */
export async function untilCount(client: BenchInstallation['client'], table: string, count: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${table}`);
    if ((rows[0]?.count ?? 0) >= count) return;
    await pause(50);
  }
}
