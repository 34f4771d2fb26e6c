import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#entities/kit/base/ids.ts';
import { alternate } from '../duel.ts';
import { untilCount } from '../event-burn-down.ts';
import type { Bench } from '../row.ts';
import { addMessages, forgetMessages } from './bench-endpoints.ts';
import { besidePeer } from './beside-peer.ts';
import { addMessageJobs, sendMessage } from './message-peer.ts';

const endpoints = 20;
/** Messages of one round, for all endpoints together. */
const backlog = Number(process.env['BENCH_MESSAGES'] ?? 5_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

/** Messages a second of a backlog, sent to endpoints and logged; against graphile-worker with fetch. */
export const webhookDelivery: Bench = {
  name: 'webhook-delivery',
  run: (say) =>
    besidePeer({ endpoints, jobs: { send_message: sendMessage } }, async ({ client, sink, customers }) => {
      const newIds = (count: number) => Array.from({ length: count }, () => newId());
      const check = async (count: number) => {
        const taken = await sink.take();
        if (taken.count !== count) throw new Error(`webhook-delivery: ${taken.count} of ${count} messages came`);
      };
      const ours = async (count = backlog) => {
        // The workflows of the last round end.
        await pause(1_500);
        await forgetMessages(client);
        await addMessages(client, customers, newIds(count));
        const startedAt = performance.now();
        await client.query('notify core_events');
        await untilCount(client, 'webhook_attempts', count);
        const rate = count / ((performance.now() - startedAt) / 1_000);
        await check(count);
        return rate;
      };
      const theirs = async (count = backlog) => {
        await client.query('truncate peer_attempts');
        await addMessageJobs(client, customers, newIds(count));
        const startedAt = performance.now();
        await untilCount(client, 'peer_attempts', count);
        const rate = count / ((performance.now() - startedAt) / 1_000);
        await check(count);
        return rate;
      };
      await ours(backlog / 5);
      await theirs(backlog / 5);
      return alternate({
        name: 'webhook-delivery',
        unit: 'messages/s',
        ours: () => ours(),
        reference: () => theirs(),
        rounds,
        note: `${backlog} waiting messages for ${endpoints} endpoints, signed, sent and logged; reference: graphile-worker with fetch`,
        say,
      });
    }),
};
