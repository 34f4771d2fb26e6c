// Left to npm run prove; npm test has test/conformance/storage-provider.test.ts.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runFileCommand } from '#tools/commands/file-commands.ts';
import type { RemovalReport } from '#workflows/files/remove-files.contract.ts';
import { sampleOf } from '../kit/depth.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { startObjectStore, type ObjectStore } from '../kit/object-stores.ts';
import { locationOf, objectState, untilCopied, type CopyState } from '../kit/files/stored-files.ts';
import { createFile } from '../kit/files/stored-upload.ts';
import { newCloudBucket, newS3Bucket } from '../kit/storage-providers.ts';
import { bucketstoreSettings, providerVariable } from '../kit/storage-settings.ts';
import { recordTried } from '../kit/tried.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { runSchedule } from '../kit/sweep.ts';
import { openWorld, type World } from '../kit/world.ts';

let folder: string;
let s3: ObjectStore;
let gcs: ObjectStore;
let world: World;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'core-copies-'));
  [s3, gcs] = await Promise.all([startObjectStore('s3'), startObjectStore('gcs')]);
  for (const bucket of ['files', 'files-backup']) {
    await newS3Bucket(s3.url, bucket);
    await newCloudBucket(gcs.url, bucket);
  }
  world = await openWorld({
    worker: ['workflows', 'storage', 'maintenance'],
    environment: {
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      ...bucketstoreSettings(s3.url, 'files'),
      [providerVariable('cloudstore.bucket')]: 'files',
      [providerVariable('cloudstore.endpoint')]: gcs.url,
      [providerVariable('disk.bucket')]: join(folder, 'files'),
      [providerVariable('database.bucket')]: 'files',
    },
  });
});
afterAll(async () => {
  await world.close();
  await Promise.all([s3.stop(), gcs.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const pairs = [
  ['bucketstore', ''],
  ['cloudstore', ''],
  ['database', ''],
  ['bucketstore', 'disk'],
  ['cloudstore', 'database'],
  ['database', 'cloudstore'],
  ['disk', 'bucketstore'],
] as const;
const tried = sampleOf('copies between providers', pairs, { by: [([from]) => from, ([from, to]) => to || from] });

test.each(tried)('files of %s are copied ("%s": to where), restored and removed', async (name, provider) => {
  const settings = {
    [providerVariable(`${name}.enabled`)]: 'true',
    [providerVariable(`${name}.backup.enabled`)]: 'true',
    [providerVariable(`${name}.backup.provider`)]: provider,
  };
  await world.reconfigure(settings);
  const { storage } = world.runtime;
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  /** Of one request, and of parts. */
  const contents = [100, 6 * 1024 * 1024 + 1].map((size) => randomBytes(size));
  const files = await Promise.all(
    contents.map(async (bytes, index) => {
      const { id, objectId } = await createFile(world, person, client, { bytes, name: `${index}.txt` });
      return { id, objectId, bytes, location: await locationOf(world, objectId) };
    }),
  );
  const copies: CopyState[] = [];
  for (const file of files) {
    const { objectId, bytes, location } = file;
    const copy = await untilCopied(world, file);
    copies.push(copy);
    expect(location.provider).toBe(name);
    const isDisk = (provider || name) === 'disk';
    expect(copy).toMatchObject({
      provider: provider || name,
      bucket: (isDisk ? join(folder, 'files') : 'files') + (provider === '' ? '-backup' : ''),
      key: location.key,
    });
    await storage.providerFor(location).delete([location.key]);
    const lines: string[] = [];
    const isWell = await runFileCommand(
      { name: 'restore', what: { objectId }, operator: 'somebody', reason: 'a test' },
      { runtime: world.runtime, print: (line) => lines.push(line) },
    );
    expect(lines.at(-1)).toBe(`${objectId}: restored from its copy, read back and compared`);
    expect(isWell).toBe(true);
    const { stream } = await storage.providerFor(location).read(location.key);
    expect(Buffer.concat((await stream.toArray()) as Buffer[]).equals(bytes)).toBe(true);
    const gone = await client.mutate({ method: 'DELETE', url: `/v1/files/${file.id}` });
    expect(gone.status).toBeLessThan(300);
  }
  // Events that are not delivered by then look old to the check at the end.
  await eventually(() => isSettled(world));
  world.clock.advance(8 * 86_400_000);
  await runSchedule<RemovalReport>(world, 'remove-files');
  for (const [index, file] of files.entries()) {
    expect(await objectState(world, file)).toBeUndefined();
    expect(await storage.providerFor(file.location).head(file.location.key)).toBeUndefined();
    const copy = copies[index];
    expect(copy && (await storage.providerOfCopy(copy).head(copy.key))).toBeUndefined();
  }
  await world.reconfigure(Object.fromEntries(Object.keys(settings).map((variable) => [variable, undefined])));
  recordTried('copies between providers', 1);
});
