import { readFileSync } from 'node:fs';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { BenchProcess } from './bench-process.ts';
import type { LoadRequest, LoadResult } from './load-generator.ts';
import type { Bench } from './row.ts';

const clients = 16;
/** Requests after which the process has seen everything, and after which it is measured again. */
const warm = 5_000;
const many = 100_000;
/** Time of one turn of the load, in milliseconds: the number of requests is known after each. */
const turnMs = 1_000;

/** Resident memory of an API process after many requests, compared with its memory after the first ones: what a process keeps. */
export const apiMemory: Bench = {
  name: 'api-memory',
  isLong: true,
  run: async (say) => {
    const installation = await openApiInstallation();
    const load = new BenchProcess('test/bench/load-client.ts');
    try {
      const requests = mixOf(installation);
      let answered = 0;
      const until = async (count: number): Promise<number> => {
        while (answered < count) {
          const result = await load.ask<LoadResult>({ url: installation.url, requests, clients, forMs: turnMs });
          if (Object.keys(result.refused).length > 0)
            throw new Error(`api-memory: refused were ${JSON.stringify(result.refused)}`);
          answered += result.answers;
        }
        const megabytes = residentOf(installation.pid);
        say(`${Math.round(megabytes)} MB after ${answered} requests`);
        return megabytes;
      };
      const idle = await until(0);
      const [first, last] = [await until(warm), await until(many)];
      return [
        {
          name: 'api-memory',
          unit: 'MB',
          ours: last,
          reference: first,
          ratio: first / last,
          spread: 0,
          note: `resident memory after ${many} mixed requests; reference: after ${warm}; before the first ${Math.round(idle)} MB`,
        },
      ];
    } finally {
      await load.stop();
      await installation.close();
    }
  },
};

/** Reads, lists, searches, changes and creations of two organizations over REST and GraphQL. */
function mixOf({ people }: ApiInstallation): LoadRequest[] {
  return people
    .slice(0, 2)
    .flatMap(({ token, taskIds }): LoadRequest[] =>
      taskIds
        .slice(0, 25)
        .flatMap((id, index): LoadRequest[] => [
          { method: 'GET', path: `/v1/tasks/${id}`, token },
          { method: 'GET', path: `/v1/tasks?first=${index + 1}&count=true`, token },
          { method: 'GET', path: `/v1/tasks?first=5&priority[gte]=${index}`, token },
          { method: 'PATCH', path: `/v1/tasks/${id}`, token, body: { priority: index } },
          { method: 'POST', path: '/v1/tasks', token, body: { title: `task ${index}` } },
          graphql(token, `{ tasks(first: ${index + 1}) { totalCount edges { node { id title } } } }`),
          graphql(token, `{ search(query: "some", first: 3) { tasks { edges { node { t${index}: title } } } } }`),
          { method: 'GET', path: '/livez' },
        ]),
    );
}

function graphql(token: string, query: string): LoadRequest {
  return { method: 'POST', path: '/graphql', token, body: { query } };
}

/** In megabytes (proc(5), VmRSS). */
function residentOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_000;
}
