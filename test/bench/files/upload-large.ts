import { setTimeout as pause } from 'node:timers/promises';
import { median, spreadOf, type Bench } from '../row.ts';
import { compareFiles, type Done } from './compare-files.ts';
import { largeBytes, withFiles, type FileInstallation } from './file-installation.ts';

const megabyte = 1_000_000;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

export const uploadLarge: Bench = {
  name: 'upload-1g',
  run: (say) =>
    withFiles({}, (installation) =>
      compareFiles({
        ...sides(installation, '/files'),
        name: 'upload-1g',
        note: `a form with one file of ${largeBytes / megabyte} MB, to disk; reference: Fastify, busboy, SHA-256, fsync`,
        say,
      }),
    ),
};

export const uploadLargeBucket: Bench = {
  name: 'upload-1g-bucket',
  run: (say) =>
    withFiles({ isBucket: true }, (installation) =>
      compareFiles({
        ...sides(installation, '/bucket'),
        name: 'upload-1g-bucket',
        note: `the same to a bucket; reference: Fastify, busboy, @aws-sdk/lib-storage`,
        say,
      }),
    ),
};

/** Uploads in a form, by the route of the product and by one of the floor. */
function sides({ api, floor, authorization, send, deleteFiles }: FileInstallation, floorPath: string) {
  const upload = async (url: string, path: string, headers: Readonly<Record<string, string>>): Promise<Done> => {
    const { seconds } = await send({ url, method: 'POST', path, headers, sizeBytes: largeBytes, isForm: true });
    return { amount: largeBytes / megabyte, seconds };
  };
  return {
    unit: 'MB',
    rounds,
    ours: { pid: api.pid, work: () => upload(api.url, '/v1/uploads', { authorization }) },
    reference: { pid: floor.pid, work: () => upload(floor.url, floorPath, {}) },
    tidy: deleteFiles,
  } as const;
}

export const uploadLargeResumable: Bench = {
  name: 'upload-1g-resumable',
  run: (say) =>
    withFiles({}, async ({ api, floor, authorization, send, deleteFiles }) => {
      await api.startWorker();
      const untilReady: number[] = [];
      const upload = async (url: string, path: string, headers: Readonly<Record<string, string>>) => {
        const startedAt = performance.now();
        const location = await begin(url, path, headers);
        const common = { 'tus-resumable': '1.0.0', 'upload-offset': '0' };
        await send({
          url,
          method: 'PATCH',
          path: location,
          headers: { ...headers, ...common, 'content-type': 'application/offset+octet-stream' },
          sizeBytes: largeBytes,
        });
        return { location, seconds: (performance.now() - startedAt) / 1_000 };
      };
      const amount = largeBytes / megabyte;
      const rows = await compareFiles({
        name: 'upload-1g-resumable',
        unit: 'MB',
        rounds,
        ours: {
          pid: api.pid,
          work: async () => {
            const startedAt = performance.now();
            const { location, seconds } = await upload(api.url, '/v1/uploads/resumable', { authorization });
            await ready(`${api.url}${location}`, authorization);
            untilReady.push(amount / ((performance.now() - startedAt) / 1_000));
            return { amount, seconds };
          },
        },
        reference: {
          pid: floor.pid,
          work: async () => ({ amount, seconds: (await upload(floor.url, '/tus', {})).seconds }),
        },
        note: `tus, one PATCH of ${amount} MB, to disk; reference: @tus/server and its store of files`,
        say,
        tidy: deleteFiles,
      });
      const [row] = rows;
      const checked = median(untilReady);
      return [
        ...rows,
        {
          name: 'upload-1g-resumable-ready',
          unit: 'MB/s',
          ours: checked,
          reference: row?.reference ?? null,
          ratio: row?.reference ? checked / row.reference : null,
          spread: spreadOf(untilReady),
          note: 'the same until a worker has read the bytes again and a record can take them; the reference reads nothing again',
        },
      ];
    }),
};

/** Creates an upload by tus. @returns its path */
async function begin(url: string, path: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      ...headers,
      'tus-resumable': '1.0.0',
      'upload-length': String(largeBytes),
      'upload-metadata': `filename ${Buffer.from('content.pdf').toString('base64')}`,
    },
  });
  const location = answer.headers.get('location');
  if (answer.status !== 201 || location === null) throw new Error(`no upload: ${answer.status} ${await answer.text()}`);
  return new URL(location, url).pathname;
}

async function ready(url: string, authorization: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url, { headers: { authorization } });
    const { status, problem } = (await answer.json()) as { readonly status: string; readonly problem: string };
    if (status === 'ready') return;
    if (status !== 'arrived') throw new Error(`the upload is ${status}: ${problem}`);
    await pause(20);
  }
}
