import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProviderName } from '#entities/kit/objects/stored-object.ts';
import { runFileCommand } from '#tools/commands/file-commands.ts';
import type { RemovalReport } from '#workflows/files/remove-files.contract.ts';
import { asOwner } from '../kit/as-owner.ts';
import { sampleOf, seeded, timesOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { startObjectStore, type KilledObjectStore } from '../kit/object-stores.ts';
import { ProductProcesses, type Life } from '../kit/processes/product-processes.ts';
import { newS3Bucket } from '../kit/storage-providers.ts';
import { bucketstoreSettings, diskSettings, providerVariable, s3ClientOf } from '../kit/storage-settings.ts';
import { runSchedule } from '../kit/sweep.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';
import { expectNoByteLost, letTimePass, storedInBucket, storedOnDisk, type Stored } from './file-checks.ts';
import { api, fileFailpoints, worker } from './file-failpoints.ts';
import { FileTraffic } from './file-traffic.ts';

const bucket = 'files';

/** Every failpoint of files with both providers; a unit of work of the API may also end before and after its commit. */
const boundaries = (['disk', 'bucketstore'] as const).flatMap((provider) =>
  [
    ...fileFailpoints,
    { failpoint: 'before-commit', program: api } as const,
    { failpoint: 'after-commit', program: api } as const,
  ].map((boundary) => ({ provider, ...boundary })),
);
const tried = sampleOf('killed file work', boundaries, {
  // Each kill takes half a minute: `npm run prove` tries every boundary.
  by: [({ provider, program }) => `${provider} ${program}`],
});

/** Kills at a random time, of the API, a worker and the provider in turn. */
const randomKills = timesOf({ sample: 3, prove: 50 });
const maxPauseMs = 400;
/** Copies that are compared in the end, at least. */
const minCopies = timesOf({ sample: 40, prove: 1_000 });

let folder: string;
let s3: KilledObjectStore;
let client: S3Client;
let world: World;
let product: ProductProcesses | undefined;
/** One person's, from the first to the last kill. */
let traffic: FileTraffic;
/** Files that clients have at the same time, of which some are just being replaced when they stop. */
let maxFiles = Math.ceil(minCopies / 4) + 5;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'core-killed-'));
  s3 = await startObjectStore('s3');
  for (const name of [bucket, `${bucket}-backup`]) await newS3Bucket(s3.url, name);
  client = s3ClientOf(s3.url);
  world = await openWorld({
    environment: {
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      ...diskSettings(join(folder, bucket)),
      [providerVariable('disk.backup.enabled')]: 'true',
      ...bucketstoreSettings(s3.url, bucket),
      [providerVariable('bucketstore.backup.enabled')]: 'true',
    },
  });
  const urls = () => product?.apiUrls ?? [];
  traffic = await FileTraffic.of(world, { urls, random: seeded('traffic of files'), maxFiles: () => maxFiles });
});
afterAll(async () => {
  await world.close();
  client.destroy();
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

const onDisk = () => ['files', 'files-backup'].map((name) => storedOnDisk(join(folder, name)));
const inBuckets = () => [bucket, `${bucket}-backup`].map((name) => storedInBucket(client, name));

/** Starts a product whose first lives end at the boundaries of a provider, lets clients work, and compares all bytes that there are. */
async function work(provider: ProviderName, stored: readonly Stored[], more?: typeof killAtRandom): Promise<void> {
  const livesOf = (program: typeof api | typeof worker): Life[] =>
    tried
      .filter((boundary) => boundary.provider === provider && boundary.program === program)
      .map(({ failpoint }) => ({ FAILPOINTS: `${failpoint}=kill@0` }));
  const lives = { [api]: livesOf(api), [worker]: livesOf(worker) };
  // While one worker starts, the other one works.
  const processes = await ProductProcesses.start(world, [api, worker, worker], lives);
  product = processes;
  try {
    // The first one makes the schedules.
    await eventually(() => processes.places.some(({ program, current }) => program === worker && current.isServing));
    const end = new AbortController();
    const clients = traffic.run(end.signal);
    const kills = async () => {
      while (processes.places.some((place) => place.deaths < place.firstLives)) {
        await runSchedule<RemovalReport>(world, 'remove-files');
        // While the API dies at each upload, there is no file yet.
        if (traffic.files.size > 0 && lives[worker].some(({ FAILPOINTS }) => FAILPOINTS?.startsWith('restore')))
          await loseAndRestore();
      }
      await more?.(processes);
      await eventually(() => traffic.files.size >= maxFiles - 5);
    };
    try {
      await whileTimePasses(processes, Promise.race([kills(), clients]));
    } finally {
      end.abort();
    }
    await whileTimePasses(processes, clients);
    expect(traffic.unexpected).toEqual([]);
    const copies = await expectNoByteLost(world, traffic.files, stored);
    recordTried('copies compared with what was uploaded', copies);
    for (const { failpoint, program } of tried.filter((boundary) => boundary.provider === provider))
      recordTried(`kills of ${program} at ${failpoint}, ${provider}`, 1);
  } finally {
    product = undefined;
    await processes.close();
  }
}

/** Waits for work while time passes for what waits, and no longer than until a process has ended that nobody killed. */
async function whileTimePasses<T>(processes: ProductProcesses, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const watch = async () => {
    while (!over.signal.aborted) {
      processes.refuseCrashes();
      await letTimePass(world);
      await pause(500);
    }
    return work;
  };
  try {
    return await Promise.race([work, watch()]);
  } finally {
    over.abort();
  }
}

/** A file whose bytes are lost and brought back; no client reads it meanwhile. */
async function loseAndRestore(): Promise<void> {
  await traffic.apart(async ({ id, content }) => {
    const [object] = await eventually(async () => {
      const rows = await asOwner<{ id: string; provider: ProviderName; bucket: string; region: string; key: string }>(
        world,
        `select o.id, o.provider, o.bucket, o.region, o.key from stored_objects o join object_copies c on c.object_id = o.id
         where o.owner_id = $1 and o.state = 'owned' and o.copy_due_at is null and c.state = 'verified'`,
        [id],
      );
      return rows.length > 0 && rows;
    });
    if (!object) return;
    const provider = world.runtime.storage.providerFor(object);
    await provider.delete([object.key]);
    const command = { name: 'restore', what: { objectId: object.id }, operator: 'somebody', reason: 'a test' } as const;
    const isWell = await runFileCommand(command, { runtime: world.runtime, print: () => {} });
    expect(isWell).toBe(true);
    expect((await provider.head(object.key))?.sizeBytes).toBe(content.length);
  });
}

async function killAtRandom(processes: ProductProcesses): Promise<void> {
  const random = seeded('random kills of files');
  for (let kills = 0; kills < randomKills; kills++) {
    // Else a program would be killed as soon as it serves, and nothing would get done between two kills.
    const { attached } = traffic.counts;
    await eventually(() => traffic.counts.attached > attached);
    await pause(random.next() * maxPauseMs);
    const what = [api, worker, 'provider'][kills % 3] ?? api;
    if (what === 'provider') {
      await s3.stack.kill('s3');
      await pause(random.next() * maxPauseMs);
      await s3.stack.restart('s3');
    } else {
      const serving = () => processes.places.filter((place) => place.program === what && place.current.isServing);
      const victims = await eventually(() => serving().length > 0 && serving());
      await random.pick(victims).current.kill();
    }
    recordTried(`kills of ${what} at random`, 1);
  }
}

test('disk, killed at every boundary: every record has its bytes and an equal copy, and nothing else is left', async () => {
  await world.reconfigure({ [providerVariable('bucketstore.enabled')]: 'false' });
  await work('disk', onDisk());
});

test('T-115: a bucket, killed at every boundary, then API, worker and provider at random: no byte differs or is left', async () => {
  await world.reconfigure({ [providerVariable('bucketstore.enabled')]: 'true' });
  maxFiles = minCopies + 5;
  await work('bucketstore', [...onDisk(), ...inBuckets()], killAtRandom);
  for (const [what, count] of Object.entries(traffic.counts)) recordTried(`files: ${what}`, count);
});
