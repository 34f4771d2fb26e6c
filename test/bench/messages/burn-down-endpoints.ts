import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#entities/kit/base/ids.ts';
import { alternate } from '../duel.ts';
import { recordEvents, untilCount } from '../event-burn-down.ts';
import { peerTable, writeRow } from '../peer.ts';
import type { Bench } from '../row.ts';
import { addMessages, forgetMessages } from './bench-endpoints.ts';
import { besidePeer } from './beside-peer.ts';
import { addMessageJobs, sendMessage } from './message-peer.ts';

const organizations = 50;
const backlog = Number(process.env['BENCH_MESSAGES'] ?? 10_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const jobs = { write_row: writeRow, send_message: sendMessage };

/** Events a second of a backlog, each delivered to a listener and sent to an endpoint; against graphile-worker with two jobs for each. */
export const burnDownEndpoints: Bench = {
  name: 'event-burn-down-endpoints',
  run: (say) =>
    besidePeer({ endpoints: organizations, tables: [peerTable], jobs }, async ({ client, customers }) => {
      const owners = customers.map(({ organizationId }) => organizationId);
      const bothDone = (tables: readonly string[], count: number) =>
        Promise.all(tables.map((table) => untilCount(client, table, count)));
      const ours = async (count = backlog) => {
        // The workflows of the last round end.
        await pause(1_500);
        await client.query('truncate bench_deliveries');
        await forgetMessages(client);
        // As one transaction: events and messages are visible together.
        await client.query('begin');
        const ids = await recordEvents(client, count, { owners });
        await addMessages(client, customers, ids);
        await client.query('commit');
        const startedAt = performance.now();
        await client.query('notify core_events');
        await bothDone(['bench_deliveries', 'webhook_attempts'], count);
        return count / ((performance.now() - startedAt) / 1_000);
      };
      const theirs = async (count = backlog) => {
        await client.query('truncate peer_deliveries, peer_attempts');
        const ids = Array.from({ length: count }, () => newId());
        await client.query('begin');
        await client.query(
          `select count(*) from (select graphile_worker.add_job('write_row', json_build_object('key', id)) from unnest($1::text[]) as id) as added`,
          [ids],
        );
        await addMessageJobs(client, customers, ids);
        await client.query('commit');
        const startedAt = performance.now();
        await bothDone(['peer_deliveries', 'peer_attempts'], count);
        return count / ((performance.now() - startedAt) / 1_000);
      };
      await ours(backlog / 5);
      await theirs(backlog / 5);
      return alternate({
        name: 'event-burn-down-endpoints',
        unit: 'events/s',
        ours: () => ours(),
        reference: () => theirs(),
        rounds,
        note: `${backlog} waiting events of ${organizations} organizations, delivered to a listener and sent to an endpoint; reference: graphile-worker with a job for each`,
        say,
      });
    }),
};
