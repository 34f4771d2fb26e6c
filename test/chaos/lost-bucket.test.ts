import { randomBytes, randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DeleteBucketCommand, DeleteObjectsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { startObjectStore, type ObjectStore } from '../kit/object-stores.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { newS3Bucket } from '../kit/storage-providers.ts';
import { bucketstoreSettings, providerVariable, s3ClientOf } from '../kit/storage-settings.ts';
import { openWorld, type World } from '../kit/world.ts';

const bucket = 'files';

/** Sizes of the files, in bytes: small ones, and one that is stored in parts. */
const sizes = [1, 100, 5_000, 70_000, 1_000_000, 11 * 1_048_576 + 7];

/** How many callers download at once. */
const callers = 4;

let s3: ObjectStore;
let world: World;
let processes: ProductProcess[] = [];
let shell: ReaderShell;
let file: string;
let authorization: string;
beforeAll(async () => {
  s3 = await startObjectStore('s3');
  await newS3Bucket(s3.url, bucket);
  await newS3Bucket(s3.url, `${bucket}-backup`);
  world = await openWorld({
    worker: ['workflows', 'storage', 'maintenance'],
    environment: {
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      [providerVariable('bucketstore.enabled')]: 'true',
      ...bucketstoreSettings(s3.url, bucket),
      [providerVariable('bucketstore.backup.enabled')]: 'true',
    },
  });
  const client = await signedIn(world, await buildPerson(world));
  authorization = `Bearer ${client.cookies.get('access_token')}`;
  const stateDir = dirname(world.mailFolder);
  mkdirSync(join(stateDir, 'config'));
  file = join(stateDir, 'config', 'drill.yaml');
  setReadFromBackup(false);
  const environment = { ...world.environment, STACK_STATE_DIR: stateDir };
  processes = [1, 2].map(
    () => new ProductProcess({ program: 'api/api-main.ts', environment, args: ['--config', file] }),
  );
  // What `npm start` leaves for the commands.
  writeFileSync(join(stateDir, 'environment.json'), JSON.stringify({ variables: environment, file }));
  shell = new ReaderShell(stateDir, 'operator');
  await Promise.all(processes.map(({ ready }) => ready));
  await eventually(() => processes.every(({ url }) => url !== ''));
});
afterAll(async () => {
  await shell?.close();
  await Promise.all(processes.map((each) => each.kill()));
  await world?.close();
  await s3?.stop();
});

/** Changes the file of the configuration, which the processes read every second. */
function setReadFromBackup(isOn: boolean): void {
  writeFileSync(
    file,
    `refreshinterval: 1000\nobjectstorage: { providers: { bucketstore: { backup: { readfrombackup: ${isOn} } } } }\n`,
  );
}

const reloads = ({ logs }: ProductProcess) =>
  logs.filter(({ msg }) => String(msg).startsWith('Configuration reloaded: objectstorage')).length;

/** Does the same, and waits until every process has read it. */
async function switchReadFromBackup(isOn: boolean): Promise<void> {
  const before = processes.map(reloads);
  setReadFromBackup(isOn);
  await eventually(() => processes.every((each, index) => reloads(each) > (before[index] ?? 0)));
}

interface StoredFile {
  readonly id: string;
  readonly content: Buffer;
}

async function send(
  path: string,
  body: object | FormData,
): Promise<any> /* eslint-disable-line typescript/no-explicit-any -- asserted, not typed */ {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${processes[0]?.url}${path}`, {
    method: 'POST',
    headers: { authorization, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  });
  const json = await answer.json();
  if (answer.status !== 201) throw new Error(JSON.stringify(json));
  return json;
}

async function storeFile(size: number): Promise<StoredFile> {
  const content = Buffer.from(randomBytes(size).toString('base64').slice(0, size));
  const form = new FormData();
  form.append('uploadFile', new Blob([content]), 'content.txt');
  const { uploads } = await send('/v1/uploads', form);
  const { content: stored } = await send('/v1/files', { content: uploads[0].id });
  return { id: stored.id, content };
}

/** Downloads of several callers at once, whole files and ranges, until they are stopped. */
class DownloadLoad {
  succeeded = 0;
  readonly failures: string[] = [];
  readonly #files: readonly StoredFile[];
  readonly #ended: Promise<unknown>;
  #isStopped = false;
  /** Raised when counting starts anew: downloads that began before do not count. */
  #epoch = 0;

  constructor(files: readonly StoredFile[]) {
    this.#files = files;
    this.#ended = Promise.all(Array.from({ length: callers }, (_, caller) => this.#run(caller)));
  }

  /** Waits until as many downloads that begin from now on are done, and returns how some of them failed. */
  async count(downloads: number): Promise<readonly string[]> {
    this.#epoch += 1;
    this.succeeded = 0;
    this.failures.length = 0;
    await eventually(() => this.succeeded + this.failures.length >= downloads);
    return this.failures;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #run(caller: number): Promise<void> {
    for (let turn = caller; !this.#isStopped; turn++) {
      const epoch = this.#epoch;
      const failure = await this.#download(turn).catch((error: unknown) => String((error as Error).cause ?? error));
      if (epoch !== this.#epoch) continue;
      if (failure === undefined) this.succeeded += 1;
      else this.failures.push(failure);
    }
  }

  /** @returns how it failed */
  async #download(turn: number): Promise<string | undefined> {
    const { id, content } = this.#files[turn % this.#files.length] as StoredFile;
    const first = randomInt(content.length);
    const last = first + randomInt(content.length - first);
    const isRange = turn % 3 > 0;
    const answer = await fetch(`${processes[turn % processes.length]?.url}/v1/files/${id}/download`, {
      headers: { authorization, ...(isRange ? { range: `bytes=${first}-${last}` } : {}) },
    });
    const got = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== (isRange ? 206 : 200)) return `${answer.status} ${got.toString().slice(0, 200)}`;
    return got.equals(isRange ? content.subarray(first, last + 1) : content) ? undefined : 'other bytes';
  }
}

async function destroyBucket(): Promise<void> {
  const service = s3ClientOf(s3.url);
  const { Contents = [] } = await service.send(new ListObjectsV2Command({ Bucket: bucket }));
  await service.send(
    new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: Contents.map(({ Key }) => ({ Key })) } }),
  );
  await service.send(new DeleteBucketCommand({ Bucket: bucket }));
  service.destroy();
}

test('drill: a bucket is destroyed; with readfrombackup no download fails; it is restored and compared, and readfrombackup is turned off', async () => {
  const [prepare = '', restore = '', compare = '', ...more] = codeBlocks(
    'docs/files.md',
    'sh',
    'When a bucket is lost',
  );
  expect(more).toEqual([]);
  const files = await Promise.all(sizes.map(storeFile));
  // The API processes have the real time, the worker has that of the world.
  world.clock.advance(Date.now() - world.clock.now().getTime() + 1_000);
  expect(await shell.run(prepare)).toContain(
    `bucketstore: ${sizes.length} files, ${sizes.length} with a verified copy`,
  );
  const load = new DownloadLoad(files);
  expect(await load.count(30)).toEqual([]);

  await destroyBucket();
  await eventually(() => load.failures.length > 0);

  await switchReadFromBackup(true);
  expect(await load.count(60)).toEqual([]);

  await newS3Bucket(s3.url, bucket);
  const restoring = shell.run(restore);
  expect(await load.count(60)).toEqual([]);
  expect(await restoring).toContain(`${sizes.length} files examined, ${sizes.length} restored, 0 intact.`);
  expect(await shell.run(compare)).toContain(`${sizes.length} files examined, 0 restored, ${sizes.length} intact.`);

  await switchReadFromBackup(false);
  expect(await load.count(60)).toEqual([]);
  await load.stop();
});
