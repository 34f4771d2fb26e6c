import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { duel } from './duel.ts';
import type { LoadRequest } from './load-generator.ts';
import type { Bench } from './row.ts';

/** Reads by API tokens, of as many organizations as access tokens of the other side. */
export const apiToken: Bench = {
  name: 'api-token',
  run: async (say) => {
    const installation = await openApiInstallation();
    try {
      const { url, people } = installation;
      const tokens = await Promise.all(people.map(({ token }) => createToken(url, token)));
      return await duel({
        name: 'api-token',
        ours: { url, requests: readsOf(people, (index) => tokens[index] as string) },
        reference: { url, requests: readsOf(people, (index) => people[index]?.token as string) },
        note: 'a task by id with an API token, which the database is asked for; reference: the same with an access token',
        say,
      });
    } finally {
      await installation.close();
    }
  },
};

/** Creates an API token that reads tasks. @param access access token of its owner */
export async function createToken(url: string, access: string): Promise<string> {
  const answer = await fetch(`${url}/v1/api-tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'benchmark', scopes: ['task:read'] }),
  });
  const body = (await answer.json()) as { token?: string };
  if (body.token === undefined) throw new Error(`no API token was created: ${JSON.stringify(body)}`);
  return body.token;
}

function readsOf(people: ApiInstallation['people'], tokenOf: (index: number) => string): LoadRequest[] {
  return Array.from({ length: 64 }, (_, turn) => {
    const index = turn % people.length;
    const [id = ''] = people[index]?.taskIds.slice(turn) ?? [];
    return { method: 'GET', path: `/v1/tasks/${id}`, token: tokenOf(index) };
  });
}
