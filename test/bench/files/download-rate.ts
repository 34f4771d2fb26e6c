import { duel } from '../duel.ts';
import type { LoadRequest } from '../load-generator.ts';
import type { Bench } from '../row.ts';
import { compareFiles, type Done } from './compare-files.ts';
import { largeBytes, withFiles, type FileInstallation } from './file-installation.ts';

const megabyte = 1_000_000;
const rangeBytes = 65_536;
const form = { method: 'POST', sizeBytes: largeBytes, isForm: true } as const;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);

export const downloadLarge: Bench = {
  name: 'download-1g',
  run: (say) =>
    withFiles({}, async (installation) => {
      const { api, floor, authorization, send } = installation;
      const download = async (url: string, path: string, headers: Readonly<Record<string, string>>): Promise<Done> => {
        const { receivedBytes, seconds } = await send({ url, method: 'GET', path, headers });
        if (receivedBytes !== largeBytes) throw new Error(`${path} has ${receivedBytes} bytes`);
        return { amount: receivedBytes / megabyte, seconds };
      };
      const { ours, theirs } = await storedFiles(installation, '/files');
      return compareFiles({
        name: 'download-1g',
        unit: 'MB',
        rounds,
        ours: { pid: api.pid, work: () => download(api.url, ours, { authorization }) },
        reference: { pid: floor.pid, work: () => download(floor.url, `/files/${theirs}`, {}) },
        note: `a file of ${largeBytes / megabyte} MB from disk; reference: Fastify and a stream of the file`,
        say,
      });
    }),
};

export const downloadRange: Bench = {
  name: 'download-range',
  run: (say) =>
    withFiles({}, async (installation) => {
      const { api, floor } = installation;
      const { ours, theirs } = await storedFiles(installation, '/rows');
      const ranges = Array.from({ length: 100 }, () => Math.floor(Math.random() * (largeBytes - rangeBytes))).map(
        (first) => `bytes=${first}-${first + rangeBytes - 1}`,
      );
      const requests = (path: string): LoadRequest[] => ranges.map((range) => ({ method: 'GET', path, range }));
      const { token } = api.people[0] as FileInstallation['api']['people'][number];
      return duel({
        name: 'download-range',
        ours: { url: api.url, requests: requests(ours).map((request) => ({ ...request, token })) },
        reference: { url: floor.url, requests: requests(`/rows/${theirs}`) },
        note: '64 KB of a large file; reference: Fastify, one select, a stream of the file',
        say,
      });
    }),
};

/** Stores a file on both sides. @returns the path of ours, the id of theirs */
async function storedFiles(
  installation: FileInstallation,
  floorPath: '/files' | '/rows',
): Promise<{ readonly ours: string; readonly theirs: string }> {
  const { floor, send } = installation;
  const theirs = await send({ ...form, url: floor.url, path: floorPath });
  return { ours: await storedFile(installation), theirs: (JSON.parse(theirs.lastBody) as { readonly id: string }).id };
}

/** Stores a large file that a record has. @returns the path of its bytes */
export async function storedFile({ api, authorization, send }: FileInstallation): Promise<string> {
  const uploaded = await send({ ...form, url: api.url, path: '/v1/uploads', headers: { authorization } });
  const { uploads } = JSON.parse(uploaded.lastBody) as { readonly uploads: readonly { readonly id: string }[] };
  const answer = await fetch(`${api.url}/v1/files`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ content: uploads[0]?.id }),
  });
  const { content } = (await answer.json()) as { readonly content?: { readonly id: string } };
  if (!content) throw new Error(`no file was created: ${answer.status}`);
  return `/v1/files/${content.id}/download`;
}
