import { readFileSync } from 'node:fs';
import { eventually } from '../kit/eventually.ts';
import { SocketSubscriber } from '../kit/events/socket-subscriber.ts';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { createToken } from './api-token-rate.ts';
import { percentile, type Bench } from './row.ts';

const settings = { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' };

/** Listeners to one event, and the connections that have them. */
const listeners = 1_000;
const connections = 200;

/** Events that are measured, and those before. */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 10);
const warmUps = 3;

/** Connections of which each has one subscription to which nothing happens. */
const idle = 5_000;
const idleOfOne = 250;
/** Connections that load what all of them share, and are not measured. */
const firstOnes = 50;

const changes = `subscription { recordChanged(kinds: [TASK]) { operation id cursor record { ... on Task { title priority } } } }`;

/** From the sending of a change to the messages of all who have subscribed to it; each of them reads the record with its own rights. */
export const subscriptionFanOut: Bench = {
  name: 'subscription-fan-out',
  run: async () => {
    const installation = await openApiInstallation(settings);
    try {
      const [person] = installation.people;
      if (!person) throw new Error('nobody can subscribe');
      const sockets = await Promise.all(Array.from({ length: connections }, () => opened(installation, person.token)));
      for (const socket of sockets)
        for (let index = 0; index < listeners / connections; index++) {
          socket.subscribe(changes);
          await socket.next();
        }
      const times: number[] = [];
      for (let round = 0; round < warmUps + rounds; round++) {
        const startedAt = performance.now();
        const heard = sockets.map(async (socket) => {
          for (let index = 0; index < listeners / connections; index++) {
            await socket.next();
            if (round >= warmUps) times.push(performance.now() - startedAt);
          }
        });
        await create(installation, person.token, `round ${round}`);
        await Promise.all(heard);
      }
      for (const socket of sockets) socket.close();
      return (['p50', 'p99'] as const).map((name) => ({
        name: `subscription-fan-out-${name}`,
        unit: `ms (${name})`,
        ours: percentile(times, name === 'p50' ? 0.5 : 0.99),
        reference: null,
        ratio: null,
        spread: 0,
        note: `from the sending of a change to the messages of ${listeners} listeners over ${connections} websockets, ${rounds} changes`,
      }));
    } finally {
      await installation.close();
    }
  },
};

/** Resident memory of the API process for each subscription to which nothing happens. */
export const subscriptionIdle: Bench = {
  name: 'subscription-idle',
  run: async (say) => {
    const installation = await openApiInstallation(settings);
    try {
      const sockets: SocketSubscriber[] = [];
      const open = async (count: number, token: string) => {
        for (let index = 0; index < count; index++) {
          const socket = await opened(installation, token);
          socket.subscribe(changes);
          await socket.next();
          sockets.push(socket);
        }
      };
      const [first] = installation.people;
      // What the first ones load is not theirs.
      await open(firstOnes, first?.token ?? '');
      const before = residentOf(installation.pid);
      // A person and each of their API tokens have connections of their own.
      const apiTokens = await Promise.all(installation.people.map(({ token }) => createToken(installation.url, token)));
      for (const token of [...installation.people.map((person) => person.token), ...apiTokens])
        await open(Math.min(idleOfOne - firstOnes, idle + firstOnes - sockets.length), token);
      const count = sockets.length - firstOnes;
      const after = residentOf(installation.pid);
      say(`${Math.round(before)} kB before, ${Math.round(after)} kB with ${count} more`);
      const [person] = installation.people;
      await create(installation, person?.token ?? '', 'after all');
      const [listener] = sockets;
      await eventually(async () => (await listener?.next())?.data.recordChanged.operation === 'CREATED');
      for (const socket of sockets) socket.close();
      return [
        {
          name: 'subscription-idle',
          unit: 'kB',
          ours: (after - before) / count,
          reference: null,
          ratio: null,
          spread: 0,
          note: `resident memory for each of ${count} websockets with one subscription to which nothing happens`,
        },
      ];
    } finally {
      await installation.close();
    }
  },
};

function opened({ url }: ApiInstallation, token: string): Promise<SocketSubscriber> {
  return SocketSubscriber.open(url, { headers: { authorization: `Bearer ${token}` } });
}

async function create({ url }: ApiInstallation, token: string, title: string): Promise<void> {
  const answer = await fetch(`${url}/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title }),
  });
  if (answer.status !== 201) throw new Error(`no task: ${await answer.text()}`);
}

/** In kilobytes (proc(5), VmRSS). */
function residentOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
