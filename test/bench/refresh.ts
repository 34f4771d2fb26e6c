import { setTimeout as pause } from 'node:timers/promises';
import { openApiInstallation } from './api-installation.ts';
import { probe } from './http-probe.ts';
import { pace } from './pace.ts';
import { signInBody } from './records.ts';
import { median, spreadOf, type Bench } from './row.ts';

const clients = 16;

/** Sessions of each of the sixteen people; a person has at most a hundred. */
const sessionsOfEach = 60;

interface Session {
  refreshToken: string;
  /** When the token becomes valid, in milliseconds of `performance.now`. */
  validAt: number;
}

/** The shortest lifetime of an access token, and a refresh token that is valid a second after it was given. */
const environment = { CORE_AUTH_TOKEN_ACCESSDURATION: '300000', CORE_AUTH_TOKEN_REFRESHOVERLAP: '-299000' };
const waitMs = 1_100;

/** Refreshes a second: each uses up a token and gives new ones. */
export const refresh: Bench = {
  name: 'refresh',
  run: async (say) => {
    const installation = await openApiInstallation(environment);
    try {
      const { url, people } = installation;
      const [{ token }] = people as [(typeof people)[number]];
      const sessions: Session[] = [];
      const ask = async (path: string, body: object): Promise<Session> => {
        // The bearer token replaces the CSRF token.
        const answer = await probe({ method: 'POST', url: `${url}${path}`, token, body });
        if (answer.status !== 200) throw new Error(`refresh: ${path} answered ${answer.status}: ${answer.body}`);
        const { refresh_token: refreshToken } = JSON.parse(answer.body) as { refresh_token: string };
        return { refreshToken, validAt: performance.now() + waitMs };
      };
      await inParallel(people.length, async (index) => {
        for (let count = 0; count < sessionsOfEach; count++)
          sessions.push(await ask('/v1/login', signInBody(people[index]?.email ?? '')));
      });
      say(`${sessions.length} sessions`);
      const round = async (forMs: number) => {
        const startedAt = performance.now();
        let count = 0;
        await inParallel(clients, async () => {
          while (performance.now() < startedAt + forMs) {
            const session = sessions.shift();
            if (!session) throw new Error('refresh: more clients than sessions');
            await pause(Math.max(0, session.validAt - performance.now()));
            sessions.push(await ask('/v1/refresh', { refresh_token: session.refreshToken }));
            count++;
          }
        });
        return count / ((performance.now() - startedAt) / 1_000);
      };
      await round(pace.warmUpMs);
      const rounds: number[] = [];
      for (let index = 0; index < pace.rounds; index++) {
        rounds.push(await round(pace.roundMs));
        say(`round ${index + 1}: ${Math.round(rounds.at(-1) ?? 0)} a second`);
      }
      const limit = Math.round(sessions.length / (waitMs / 1_000));
      return [
        {
          name: 'refresh',
          unit: 'requests/s',
          ours: median(rounds),
          reference: null,
          ratio: null,
          spread: spreadOf(rounds),
          note: `refreshes of ${sessions.length} sessions by ${clients} clients, each at most once in ${waitMs} ms: ${limit} are possible`,
        },
      ];
    } finally {
      await installation.close();
    }
  },
};

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => work(index)));
}
