import { copyFile, mkdir } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { BenchProcess } from './bench-process.ts';
import { duel } from './duel.ts';
import type { Bench } from './row.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const ours = `query ($id: ID!) { organization(id: $id) { name groups(first: 20) { edges { node { id name
  groupMemberships(first: 10) { edges { node { id role userId } } } } } } } }`;

const theirs = `query ($id: String!) { organization: organizationByRowId(rowId: $id) { name
  groups: groupsByOrganizationId(first: 20) { edges { node { id: rowId name
    groupMemberships: groupMembershipsByGroupId(first: 10) { edges { node { id: rowId role userId } } } } } } } }`;

/** Organization → 20 groups → 200 memberships, with our rules on every level, against PostGraphile without any. */
export const graphqlNested: Bench = {
  name: 'graphql-nested',
  // The peer is installed for it.
  isLong: true,
  run: async (say) => {
    const program = await installPeer();
    const installation = await openApiInstallation();
    const peer = new BenchProcess(program, { PEER_DATABASE: installation.databaseUrl, GRAPHILE_ENV: 'production' });
    try {
      const { url: peerUrl } = await peer.next<{ url: string }>();
      const { organizationId: id, token } = installation.people[0] as ApiInstallation['people'][number];
      const request = (query: string) =>
        ({ method: 'POST', path: '/graphql', body: { query, variables: { id } } }) as const;
      const [a, b] = [
        await answerOf(installation.url, request(ours).body, token),
        await answerOf(peerUrl, request(theirs).body),
      ];
      if (!isDeepStrictEqual(inSmallLetters(a), inSmallLetters(b)))
        throw new Error(`the two answer differently, from here on: ${firstDifference(a, b)}`);
      return await duel({
        name: 'graphql-nested',
        ours: { url: installation.url, requests: [{ ...request(ours), token }] },
        reference: { url: peerUrl, requests: [request(theirs)] },
        note: 'organization → 20 groups → 200 memberships; reference: PostGraphile 5, without rules',
        say,
      });
    } finally {
      await peer.stop();
      await installation.close();
    }
  },
};

/** Installs PostGraphile into a folder of its own: it needs another major version of `graphql` than we do. */
async function installPeer(): Promise<string> {
  const folder = join('.local', 'bench', 'postgraphile');
  await mkdir(join(root, folder), { recursive: true });
  for (const file of ['package.json', 'package-lock.json', 'server.mjs'])
    await copyFile(join(root, 'test', 'bench', 'postgraphile', file), join(root, folder, file));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: join(root, folder),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return join(folder, 'server.mjs');
}

/** The data of an answer: what we say of its cost beside them is no part of the comparison. */
async function answerOf(url: string, body: object, token?: string): Promise<unknown> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const { data } = (await answer.json()) as { readonly data?: unknown };
  return data;
}

/** Words of a choice stand in capitals with us. */
function inSmallLetters(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer).toLowerCase());
}

/** What two answers say from the place on at which they differ first. */
function firstDifference(a: unknown, b: unknown): string {
  const [ours, theirs] = [a, b].map((answer) => JSON.stringify(inSmallLetters(answer))) as [string, string];
  let at = 0;
  while (ours[at] === theirs[at]) at++;
  const from = Math.max(0, at - 100);
  return `${ours.slice(from, at + 200)} and ${theirs.slice(from, at + 200)}`;
}
