import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Provider } from '#activities/clients/storage/providers/s3-provider.ts';
import { S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';
import { newS3Bucket } from '../../kit/storage-providers.ts';
import { bucketstoreSettings, diskSettings, providerVariable } from '../../kit/storage-settings.ts';
import { startVersitygw } from '../../kit/servers/versitygw.ts';
import { openApiInstallation, type ApiInstallation } from '../api-installation.ts';
import { BenchProcess } from '../bench-process.ts';
import type { FileLoad, FileLoadResult } from './file-load.ts';

const mebibyte = 1_048_576;

/** Size of the large file; `BENCH_MEGABYTES` makes it smaller while something is being tried. */
export const largeBytes = Number(process.env['BENCH_MEGABYTES'] ?? 1_024) * mebibyte;

/** An API process that stores files, the floor beside it, and the process that sends to both. */
export interface FileInstallation {
  readonly api: ApiInstallation;
  readonly floor: { readonly url: string; readonly pid: number };
  /** Token of an owner of an organization. */
  readonly authorization: string;
  readonly send: (load: Partial<FileLoad> & Pick<FileLoad, 'url' | 'method' | 'path'>) => Promise<FileLoadResult>;
  /** Deletes the bytes of all files, of both sides. */
  readonly deleteFiles: () => Promise<void>;
}

export interface FileInstallationOptions {
  /** Whether files go to a bucket, or to a folder. */
  readonly isBucket?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}

export async function withFiles<T>(
  { isBucket = false, settings = {} }: FileInstallationOptions,
  use: (installation: FileInstallation) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'core-bench-files-'));
  const [ours, theirs] = [join(folder, 'ours'), join(folder, 'floor')];
  const store = isBucket ? await openBucket() : undefined;
  const api = await openApiInstallation({
    ...(store ? store.settings : diskSettings(ours)),
    CORE_OBJECTSTORAGE_MAXSIZEMB: '4096',
    // How long a whole body takes depends on the machine.
    CORE_SERVER_READTIMEOUT: '600000',
    CORE_SERVER_READHEADERTIMEOUT: '600000',
    CORE_SERVER_WRITETIMEOUT: '600000',
    ...settings,
  });
  const floor = new BenchProcess('test/bench/files/floor-files.ts', {
    FLOOR_DATABASE: api.databaseUrl,
    FLOOR_FOLDER: theirs,
    ...store?.floor,
  });
  const client = new BenchProcess('test/bench/files/file-client.ts');
  try {
    const authorization = `Bearer ${api.people[0]?.token ?? ''}`;
    return await use({
      api,
      floor: await floor.next<FileInstallation['floor']>(),
      authorization,
      send: (load) =>
        client.ask<FileLoadResult>({ headers: {}, sizeBytes: 0, isForm: false, connections: 1, forMs: 0, ...load }),
      deleteFiles: async () => {
        for (const each of [ours, theirs]) await emptyFolder(each);
        await store?.empty();
      },
    });
  } finally {
    await client.stop();
    await floor.stop();
    await api.close();
    await store?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openBucket() {
  const { url, stop } = await startVersitygw('us-east-1');
  const bucket = await newS3Bucket(url);
  const provider = new S3Provider(bucket, { region: 'us-east-1', endpoint: url, credentials: S3_CREDENTIALS });
  return {
    settings: { [providerVariable('bucketstore.enabled')]: 'true', ...bucketstoreSettings(url, bucket) },
    floor: { FLOOR_S3: url, FLOOR_BUCKET: bucket },
    empty: async () => {
      const { items } = await provider.list('');
      await provider.delete(items.map(({ key }) => key));
    },
    stop,
  };
}

/** The folder itself stays: the server takes one that is gone for a disk that is not mounted. */
async function emptyFolder(folder: string): Promise<void> {
  for (const { name } of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (name !== 'tus') await rm(join(folder, name), { recursive: true, force: true });
    else await emptyFolder(join(folder, name));
}
