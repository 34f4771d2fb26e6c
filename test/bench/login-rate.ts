import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { BenchProcess } from './bench-process.ts';
import { probeAtRate } from './http-probe.ts';
import type { LoadRequest, LoadResult } from './load-generator.ts';
import { pace } from './pace.ts';
import { signInBody } from './records.ts';
import { median, percentile, spreadOf, type Bench } from './row.ts';

/** Connections that sign in one after the other. */
const clients = 16;

/** People who sign in. Few of them would reach the limit of their sessions, and every further sign-in would also end a session. */
const peopleWhoSignIn = 400;

/**
 * Sign-ins before the first round. V8 compiles a function for good once it was called three thousand times and has run for some time: the
 * last ones after 7,000 sign-ins, which takes two minutes. Other requests reach that within seconds.
 */
const signInsToWarmUp = 8_000;

/** Sign-ins directly before a round, in milliseconds: connections to the database that were closed meanwhile are opened anew. */
const leadMs = 1_000;

/** Other requests a second while sign-ins saturate the process. */
const otherRate = 50;

/** Sign-ins with the password, against argon2id alone on the same cores. */
export const loginRate: Bench = {
  name: 'login',
  run: async (say) => {
    const installation = await openApiInstallation({}, peopleWhoSignIn);
    const load = new BenchProcess('test/bench/load-client.ts');
    const floor = new BenchProcess('test/bench/hash-floor.ts');
    try {
      const ours = async (forMs: number) => {
        await signIns(load, installation, leadMs);
        return (await signIns(load, installation, forMs)).answersPerSecond;
      };
      const theirs = async (forMs: number) => (await floor.ask<{ perSecond: number }>({ forMs })).perSecond;
      await warmUp(load, installation);
      await theirs(pace.warmUpMs);
      const rounds: { ours: number; floor: number }[] = [];
      for (let round = 0; round < pace.rounds; round++) {
        const measured = { ours: 0, floor: 0 };
        const order = ['ours', 'floor'] as const;
        for (const turn of round % 2 === 0 ? order : order.toReversed())
          measured[turn] = await (turn === 'ours' ? ours : theirs)(pace.roundMs);
        rounds.push(measured);
        say(`round ${round + 1}: ${measured.ours.toFixed(1)} sign-ins, ${measured.floor.toFixed(1)} hashes a second`);
      }
      return [
        {
          name: 'login',
          unit: 'sign-ins/s',
          ours: median(rounds.map((round) => round.ours)),
          reference: median(rounds.map((round) => round.floor)),
          ratio: median(rounds.map((round) => round.ours / round.floor)),
          spread: spreadOf(rounds.map((round) => round.ours)),
          note: `sign-ins with the password by ${clients} clients; reference: argon2id alone`,
        },
      ];
    } finally {
      await Promise.all([load.stop(), floor.stop()]);
      await installation.close();
    }
  },
};

/** What other requests wait while sign-ins saturate the process, against the same without sign-ins. */
export const loginStarvation: Bench = {
  name: 'login-starvation',
  run: async (say) => {
    const installation = await openApiInstallation({}, peopleWhoSignIn);
    const load = new BenchProcess('test/bench/load-client.ts');
    try {
      const p99 = async (forMs: number) => {
        const [owner] = installation.people as [ApiInstallation['people'][number]];
        const answers = await probeAtRate(otherRate, forMs, (index) => ({
          method: 'GET',
          url: `${installation.url}/v1/tasks/${owner.taskIds[index % owner.taskIds.length]}`,
          token: owner.token,
        }));
        const refused = answers.filter(({ status }) => status !== 200).length;
        if (refused > 0) throw new Error(`login-starvation: ${refused} other requests were refused`);
        return percentile(
          answers.map(({ durationMs }) => durationMs),
          0.99,
        );
      };
      await warmUp(load, installation);
      await p99(pace.warmUpMs);
      const rounds: { idle: number; saturated: number }[] = [];
      for (let round = 0; round < pace.rounds; round++) {
        const idle = await p99(pace.roundMs);
        const [saturated] = await Promise.all([p99(pace.roundMs), signIns(load, installation, pace.roundMs)]);
        rounds.push({ idle, saturated });
        say(`round ${round + 1}: p99 ${idle.toFixed(1)} ms idle, ${saturated.toFixed(1)} ms with sign-ins`);
      }
      return [
        {
          name: 'login-starvation',
          unit: 'ms (p99)',
          ours: median(rounds.map(({ saturated }) => saturated)),
          reference: median(rounds.map(({ idle }) => idle)),
          ratio: median(rounds.map(({ idle, saturated }) => idle / saturated)),
          spread: spreadOf(rounds.map(({ saturated }) => saturated)),
          note: `reads of tasks, ${otherRate} a second, while ${clients} clients sign in; reference: without sign-ins`,
        },
      ];
    } finally {
      await load.stop();
      await installation.close();
    }
  },
};

async function warmUp(load: BenchProcess, installation: ApiInstallation): Promise<void> {
  for (let count = 0; count < signInsToWarmUp;) count += (await signIns(load, installation, pace.warmUpMs)).answers;
}

/** Sign-ins of people whose browsers are known, and who are not signed in. */
async function signIns(load: BenchProcess, { url, people }: ApiInstallation, forMs: number): Promise<LoadResult> {
  const requests = people.map(({ email, cookies, csrfToken }): LoadRequest => ({
    method: 'POST',
    path: '/v1/login',
    cookie: cookies,
    csrfToken,
    body: signInBody(email),
  }));
  const result = await load.ask<LoadResult>({ url, requests, clients, forMs });
  if (Object.keys(result.refused).length > 0)
    throw new Error(`sign-ins were refused: ${JSON.stringify(result.refused)}`);
  return result;
}
