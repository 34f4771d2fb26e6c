import { isDeepStrictEqual } from 'node:util';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { BenchProcess } from './bench-process.ts';
import { duel } from './duel.ts';
import type { LoadRequest } from './load-generator.ts';
import type { Bench } from './row.ts';

/** What both sides are asked for; the floor is told in the request who calls. */
interface CheckRequest {
  readonly ours: readonly LoadRequest[];
  readonly floor: readonly LoadRequest[];
  /** Whether both answers say the same. */
  readonly isSame: (ours: unknown, floor: unknown) => boolean;
  readonly note: string;
}

export const livez = against('livez', () => {
  const requests = [{ method: 'GET', path: '/livez' }] as const;
  return {
    ours: requests,
    floor: requests,
    isSame: isDeepStrictEqual,
    note: 'the answer that the process lives; reference: Fastify alone',
  };
});

export const restRead = against('rest-read', ({ people: [owner] }) => {
  const { token, taskIds } = owner as ApiInstallation['people'][number];
  const requests = taskIds.map((id): LoadRequest => ({ method: 'GET', path: `/v1/tasks/${id}` }));
  return {
    ours: requests.map((request) => ({ ...request, token })),
    floor: requests,
    isSame: isDeepStrictEqual,
    note: 'a task by id; reference: Fastify and pg, one select',
  };
});

export const restList = against('rest-list-50', ({ people: [owner] }) => {
  const { token, organizationId } = owner as ApiInstallation['people'][number];
  return {
    ours: [{ method: 'GET', path: '/v1/tasks?first=50&count=true', token }],
    floor: [{ method: 'GET', path: `/v1/tasks?first=50&organization=${organizationId}` }],
    isSame: (ours, floor) => isDeepStrictEqual(withoutCursors(ours), withoutCursors(floor)),
    note: '50 of 1,000 tasks with their count; reference: Fastify and pg, one select',
  };
});

export const restCreate = against('rest-create', ({ people: [owner] }) => {
  const { token, organizationId, userId } = owner as ApiInstallation['people'][number];
  const title = 'Something that somebody has to do';
  return {
    ours: [{ method: 'POST', path: '/v1/tasks', token, body: { title } }],
    floor: [{ method: 'POST', path: '/v1/tasks', body: { title, organization: organizationId, person: userId } }],
    isSame: (ours, floor) => isDeepStrictEqual(Object.keys(ours as object), Object.keys(floor as object)),
    note: 'a task with history and event; reference: Fastify and pg, two inserts of the same rows and a tuple in a transaction',
  };
});

function against(name: string, questionOf: (installation: ApiInstallation) => CheckRequest): Bench {
  return {
    name,
    run: async (say) => {
      const installation = await openApiInstallation();
      const floor = new BenchProcess('test/bench/floor-server.ts', { FLOOR_DATABASE: installation.databaseUrl });
      try {
        const { url: floorUrl } = await floor.next<{ url: string }>();
        const question = questionOf(installation);
        const [ours, theirs] = [
          await answerOf(installation.url, question.ours),
          await answerOf(floorUrl, question.floor),
        ];
        if (!question.isSame(ours, theirs))
          throw new Error(`${name}: the two answer differently: ${JSON.stringify([ours, theirs])}`);
        return await duel({
          name,
          ours: { url: installation.url, requests: question.ours },
          reference: { url: floorUrl, requests: question.floor },
          note: question.note,
          say,
        });
      } finally {
        await floor.stop();
        await installation.close();
      }
    },
  };
}

/** Answer to the first of these requests. */
async function answerOf(url: string, [request]: readonly LoadRequest[]): Promise<unknown> {
  const { method, path, token, body } = request as LoadRequest;
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return answer.json();
}

/** Cursors are opaque; each side has its own. */
function withoutCursors(answer: unknown): unknown {
  const { page_info: info, ...rest } = answer as { readonly page_info: Readonly<Record<string, unknown>> };
  return { ...rest, has_next_page: info['has_next_page'], has_previous_page: info['has_previous_page'] };
}
