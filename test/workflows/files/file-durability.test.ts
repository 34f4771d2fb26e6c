// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { StorageError, type StorageProvider } from '#activities/clients/storage/provider.ts';
import { copyObject } from '#activities/files/copy-object.ts';
import { markFilesForRemoval } from '#activities/files/remove-objects.ts';
import { StorageWork } from '#activities/files/storage-work.ts';
import { WorkRepairs } from '#runtime/work-repairs.ts';
import { runFileCommand, type FileCommand } from '#tools/commands/file-commands.ts';
import { verifyObjects } from '#tools/commands/verify-objects.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import type { AuditReport } from '#workflows/files/audit-storage.contract.ts';
import type { RemovalReport } from '#workflows/files/remove-files.contract.ts';
import type { BackupSweep } from '#workflows/files/sweep-backups.contract.ts';
import { eventually } from '../../kit/eventually.ts';
import {
  copyOf,
  inDatabase,
  objectState,
  setOwned,
  storeFile,
  untilCopied,
  uploadBytes,
  type StoredFile,
} from '../../kit/files/stored-files.ts';
import { runSchedule } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

const disk = 'CORE_OBJECTSTORAGE_PROVIDERS_DISK';
const day = 86_400_000;

let world: World;
let folder: string;
let source: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'core-files-'));
  source = join(folder, 'files');
  world = await openWorld({
    worker: ['workflows', 'storage', 'maintenance'],
    environment: {
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      [`${disk}_ENABLED`]: 'true',
      [`${disk}_BUCKET`]: source,
      [`${disk}_BACKUP_ENABLED`]: 'true',
    },
    // Its tests damage stored bytes, and lose files for good; the records that own them are invented.
    skipVerify: true,
  });
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const bytes = (size: number) => randomBytes(size);
const sourcePath = ({ location }: StoredFile) => join(location.bucket, location.key);
const copyPath = ({ location }: StoredFile) => join(`${location.bucket}-backup`, location.key);

async function command(one: FileCommand): Promise<{ readonly isWell: boolean; readonly lines: string[] }> {
  const lines: string[] = [];
  const isWell = await runFileCommand(one, {
    runtime: world.runtime,
    print: (line) => lines.push(line),
    progressEveryMs: 50,
  });
  return { isWell, lines };
}
const asked = { operator: 'somebody@example.com', reason: 'a test' };

/** The whole content as a download reads it. */
async function readFileOf(file: StoredFile): Promise<Buffer> {
  const [row] = await inDatabase<{ readonly found: Record<string, unknown> }>(
    world,
    `select jsonb_build_object('version', o.version, 'copy', (object_for_download(o.id)) -> 'copy', 'location',
       jsonb_build_object('provider', o.provider, 'bucket', o.bucket, 'region', o.region, 'key', o.key)) as found
     from stored_objects o where o.id = $1`,
    [file.objectId],
  );
  const stream = await world.runtime.storage.openForRead(row?.found as never);
  return Buffer.concat((await stream.toArray()) as Buffer[]);
}

describe('a copy', () => {
  test('is made after the commit, in parts where the file is large, and read back', async () => {
    for (const size of [0, 1, 4 * 1024 * 1024, 9 * 1024 * 1024 + 1]) {
      const file = await storeFile(world, bytes(size));
      const copy = await untilCopied(world, file);
      expect(copy).toMatchObject({ provider: 'disk', bucket: `${source}-backup`, key: file.location.key });
      expect((await readFile(copyPath(file))).equals(file.content)).toBe(true);
    }
  });

  test('of a file that is older than the setting is made when backups are turned on', async () => {
    await world.reconfigure({ [`${disk}_BACKUP_ENABLED`]: 'false' });
    const file = await storeFile(world, bytes(100));
    expect(await copyOf(world, file)).toBeUndefined();
    await world.reconfigure({ [`${disk}_BACKUP_ENABLED`]: 'true' });
    await untilCopied(world, file);
  });

  test('is not made of a source unlike its row, which is reported', async () => {
    await world.reconfigure({ [`${disk}_BACKUP_ENABLED`]: 'false' });
    const [other, shorter, missing] = [
      await storeFile(world, bytes(100)),
      await storeFile(world, bytes(100)),
      await storeFile(world, bytes(100)),
    ];
    await replaceSilently(other, 'stored_objects');
    await writeFile(sourcePath(shorter), bytes(99));
    await rm(sourcePath(missing));
    await world.reconfigure({ [`${disk}_BACKUP_ENABLED`]: 'true' });
    const problemOf = (file: StoredFile) =>
      eventually(async () => {
        const copy = await copyOf(world, file);
        return copy?.state === 'failed' && copy.problem;
      });
    expect(await problemOf(other)).toContain('its content is another one');
    expect(await problemOf(shorter)).toContain('source: ');
    expect(await problemOf(missing)).toContain('it does not exist');
    expect(await new WorkRepairs(world.runtime).do('retry', `copy.${missing.objectId}`, asked)).toContain('begins now');
    await eventually(async () => {
      const attempts = 'select 1 from object_copies where object_id = $1 and attempts = 2';
      return (await inDatabase(world, attempts, [missing.objectId])).length === 1;
    });
    for (const file of [other, shorter, missing]) {
      expect(existsSync(copyPath(file))).toBe(false);
      const lines = world.logs.filter((line) => line['object_id'] === file.objectId);
      expect(lines.map((line) => line['msg'])).toContain('a file was not copied');
      await forget(file);
    }
  });

  test('that is good is never written over', async () => {
    const file = await storeFile(world, bytes(100));
    await untilCopied(world, file);
    await replaceSilently(file, 'stored_objects');
    await setOwned(world, file, false);
    await setOwned(world, file, true);
    await untilCopied(world, file);
    expect((await readFile(copyPath(file))).equals(file.content)).toBe(true);
    const { isWell } = await command({ name: 'restore', what: { objectId: file.objectId }, ...asked });
    expect(isWell).toBe(true);
    expect((await readFile(sourcePath(file))).equals(file.content)).toBe(true);
  });

  test('stays when the region of its bucket changes in the settings', async () => {
    const file = await storeFile(world, bytes(100));
    await untilCopied(world, file);
    // As if the copy had been made while another region was set.
    await inDatabase(world, `update object_copies set region = 'elsewhere' where object_id = $1`, [file.objectId]);
    await inDatabase(world, 'update stored_objects set copy_due_at = $2 where id = $1', [
      file.objectId,
      world.clock.now(),
    ]);
    await storeFile(world, bytes(1));
    const copy = await eventually(async () => {
      const found = await copyOf(world, file);
      return found?.isDue === false && !found.hasRemains && found;
    });
    expect(copy).toMatchObject({ state: 'verified', region: '' });
    expect((await readFile(copyPath(file))).equals(file.content)).toBe(true);
  });

  test('is not deleted by an attempt that was superseded while it read its own back', async () => {
    await world.reconfigure({ [`${disk}_BACKUP_ENABLED`]: 'false' });
    const file = await storeFile(world, bytes(100));
    const { signal } = new AbortController();
    const target = { provider: 'disk', bucket: `${source}-backup`, region: '' } as const;
    /** Work as in a worker, whose first read of a copy waits for `before`. */
    const workThat = (before: () => Promise<unknown>) => {
      const { storage } = world.runtime;
      const destination = bound(storage.providerOfCopy(target), {
        read: async (...args: unknown[]) => {
          await before();
          return (storage.providerOfCopy(target).read as (...all: unknown[]) => unknown)(...args);
        },
      });
      const changed = bound(storage, { copyTarget: () => target, providerOfCopy: () => destination });
      return new StorageWork({ ...world.runtime, storage: changed } as never);
    };
    const successor = workThat(async () => {});
    const units = vi.spyOn(successor, 'transact');
    const outcomes: string[] = [];
    const superseded = workThat(async () => outcomes.push(await copyObject(successor, file.objectId, signal)));
    outcomes.push(await copyObject(superseded, file.objectId, signal));
    expect(outcomes).toEqual(['verified', 'superseded']);
    // One begins the attempt, one ends the work.
    expect(units).toHaveBeenCalledTimes(2);
    expect(await copyOf(world, file)).toMatchObject({ state: 'verified' });
    expect((await readFile(copyPath(file))).equals(file.content)).toBe(true);
    await world.reconfigure({ [`${disk}_BACKUP_ENABLED`]: 'true' });
  });

  test('that could not be found for a while is restored from, and counts again', async () => {
    const file = await storeFile(world, bytes(100));
    await untilCopied(world, file);
    await rm(sourcePath(file));
    await rename(copyPath(file), join(folder, 'away'));
    const lost = await command({ name: 'restore', what: { objectId: file.objectId }, ...asked });
    expect(lost.isWell).toBe(false);
    expect(await copyOf(world, file)).toMatchObject({ state: 'failed' });
    await rename(join(folder, 'away'), copyPath(file));
    const { isWell } = await command({ name: 'restore', what: { objectId: file.objectId }, ...asked });
    expect(isWell).toBe(true);
    expect((await readFileOf(file)).equals(file.content)).toBe(true);
    expect(await copyOf(world, file)).toMatchObject({ state: 'verified', problem: null });
  });

  test('that rotted is found by reading it again after a week, and made again', async () => {
    const file = await storeFile(world, bytes(100));
    await untilCopied(world, file);
    await replaceSilently(file, 'object_copies');
    world.clock.advance(8 * day);
    await eventually(async () => {
      await runSchedule<BackupSweep>(world, 'sweep-backups');
      const now = await readFile(copyPath(file)).catch(() => Buffer.alloc(0));
      return now.equals(file.content);
    });
    await untilCopied(world, file);
    const { isWell, lines } = await command({ name: 'backups' });
    expect(lines.at(-1)).toContain(' with a verified copy, 0 failed, 0 waiting');
    expect(isWell).toBe(true);
  });
});

describe('a lost bucket', () => {
  test('is read from its copies, restored and compared, and no read fails', async () => {
    const files = await Promise.all([1, 2, 3, 4, 5].map((number) => storeFile(world, bytes(number * 1000))));
    for (const file of files) await untilCopied(world, file);
    await rename(source, `${source}-unmounted`);
    // A disk that is not mounted has lost nothing.
    await expect(readFileOf(files[0] as StoredFile)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(storeFile(world, bytes(1))).rejects.toMatchObject({ failure: 'unavailable' });
    const unmounted = await runSchedule<AuditReport>(world, 'audit-storage');
    expect(unmounted).toMatchObject({ missing: 0, restored: 0, unreachable: [expect.stringContaining(source)] });
    expect(existsSync(source)).toBe(false);
    // The operator says that it is lost.
    await rm(`${source}-unmounted`, { recursive: true });
    await mkdir(source);
    await expect(readFileOf(files[0] as StoredFile)).rejects.toMatchObject({ code: 'not_found' });
    await world.reconfigure({ [`${disk}_BACKUP_READFROMBACKUP`]: 'true' });
    for (const file of files) expect((await readFileOf(file)).equals(file.content)).toBe(true);
    // New files are stored meanwhile, and read from the source until they have copies.
    const young = await storeFile(world, bytes(100));
    expect((await readFileOf(young)).equals(young.content)).toBe(true);
    const { isWell, lines } = await command({ name: 'restore', what: 'missing', ...asked });
    expect(lines.join('\n')).toMatch(/files examined, \d+ restored, 0 intact/);
    expect(isWell).toBe(true);
    await world.reconfigure({ [`${disk}_BACKUP_READFROMBACKUP`]: undefined });
    for (const file of files) expect((await readFileOf(file)).equals(file.content)).toBe(true);
    const all = await command({ name: 'restore', what: 'all', ...asked });
    expect(all.lines.join('\n')).toMatch(/files examined, 0 restored, \d+ intact/);
    expect(all.isWell).toBe(true);
    const operations = await inDatabase<{ readonly operation: string; readonly operator: string }>(
      world,
      `select operation, operator, reason from file_operations where operation <> 'restore' order by at`,
    );
    expect(operations).toEqual([
      { operation: 'restore-missing', ...asked },
      { operation: 'restore-all', ...asked },
    ]);
  });

  test('is restored into another one when it has another name now', async () => {
    const file = await storeFile(world, bytes(100));
    await untilCopied(world, file);
    await rm(sourcePath(file));
    const renamed = join(folder, 'other-files');
    await world.reconfigure({ [`${disk}_BUCKET`]: renamed });
    const { isWell } = await command({ name: 'restore', what: { objectId: file.objectId }, ...asked });
    expect(isWell).toBe(true);
    expect((await readFile(join(renamed, file.location.key))).equals(file.content)).toBe(true);
    expect((await readFileOf(file)).equals(file.content)).toBe(true);
    // Its copy follows, and the former one goes only after that.
    const moved = await eventually(async () => {
      await runSchedule<BackupSweep>(world, 'sweep-backups');
      const copy = await copyOf(world, file);
      return copy?.bucket === `${renamed}-backup` && !copy.isDue && copy;
    });
    expect(moved.state).toBe('verified');
    expect((await readFile(join(moved.bucket, moved.key))).equals(file.content)).toBe(true);
    expect(existsSync(copyPath(file))).toBe(false);
    await world.reconfigure({ [`${disk}_BUCKET`]: source });
  });
});

test('a bucket of copies that becomes the bucket of files keeps their bytes', async () => {
  const file = await storeFile(world, bytes(100));
  await untilCopied(world, file);
  await rm(sourcePath(file));
  await world.reconfigure({ [`${disk}_BUCKET`]: `${source}-backup` });
  const { isWell } = await command({ name: 'restore', what: { objectId: file.objectId }, ...asked });
  expect(isWell).toBe(true);
  const copy = await untilCopied(world, file);
  expect(copy.bucket).toBe(`${source}-backup-backup`);
  expect((await readFile(join(copy.bucket, copy.key))).equals(file.content)).toBe(true);
  expect((await readFile(copyPath(file))).equals(file.content)).toBe(true);
  expect((await readFileOf(file)).equals(file.content)).toBe(true);
  await world.reconfigure({ [`${disk}_BUCKET`]: source });
});

test('a file of a disabled provider does not stop the others from being restored', async () => {
  const [unreadable, missing] = [await storeFile(world, bytes(100)), await storeFile(world, bytes(100))];
  for (const file of [unreadable, missing]) await untilCopied(world, file);
  await inDatabase(world, `update stored_objects set provider = 'database' where id = $1`, [unreadable.objectId]);
  await rm(sourcePath(missing));
  const { isWell, lines } = await command({ name: 'restore', what: 'missing', ...asked });
  expect(isWell).toBe(false);
  expect(lines.join('\n')).toContain(unreadable.objectId);
  expect((await readFile(sourcePath(missing))).equals(missing.content)).toBe(true);
  await inDatabase(world, `update stored_objects set provider = 'disk' where id = $1`, [unreadable.objectId]);
});

test('who asks for what another operator has begun is recorded, too', async () => {
  const file = await storeFile(world, bytes(100));
  await untilCopied(world, file);
  await rm(sourcePath(file));
  const restore = (reason: string) =>
    command({ name: 'restore', what: { objectId: file.objectId }, operator: asked.operator, reason });
  const answers = await Promise.all([restore('the first'), restore('the second')]);
  expect(answers.map(({ isWell }) => isWell)).toEqual([true, true]);
  expect(answers.flatMap(({ lines }) => lines).join('\n')).toContain('runs already; following it');
  const recorded = await inDatabase<{ readonly reason: string }>(
    world,
    'select reason from file_operations where object_id = $1 order by reason',
    [file.objectId],
  );
  expect(recorded.map(({ reason }) => reason)).toEqual(['the first', 'the second']);
});

describe('removal', () => {
  test('deletes bytes and copies a week after the release, and not before', async () => {
    const file = await storeFile(world, bytes(100));
    const kept = await storeFile(world, bytes(100));
    for (const one of [file, kept]) await untilCopied(world, one);
    await setOwned(world, file, false);
    world.clock.advance(7 * day - 1000);
    await runSchedule<RemovalReport>(world, 'remove-files');
    expect(await objectState(world, file)).toBe('released');
    expect(existsSync(sourcePath(file)) && existsSync(copyPath(file))).toBe(true);
    world.clock.advance(2000);
    expect((await runSchedule<RemovalReport>(world, 'remove-files')).removed).toBeGreaterThanOrEqual(1);
    expect(await objectState(world, file)).toBeUndefined();
    expect(existsSync(sourcePath(file)) || existsSync(copyPath(file))).toBe(false);
    expect(await objectState(world, kept)).toBe('owned');
    expect(existsSync(sourcePath(kept)) && existsSync(copyPath(kept))).toBe(true);
  });

  test('can be undone until then, and asked for before', async () => {
    const [restored, purged] = [await storeFile(world, bytes(100)), await storeFile(world, bytes(100))];
    for (const file of [restored, purged]) {
      await untilCopied(world, file);
      await setOwned(world, file, false);
    }
    await setOwned(world, restored, true);
    world.clock.advance(8 * day);
    const { isWell } = await command({ name: 'purge', objectId: purged.objectId, ...asked });
    expect(isWell).toBe(true);
    expect(await objectState(world, purged)).toBeUndefined();
    await expect(setOwned(world, purged, true)).rejects.toThrow('no longer there');
    await runSchedule<RemovalReport>(world, 'remove-files');
    expect(await objectState(world, restored)).toBe('owned');
    const refused = await command({ name: 'purge', objectId: restored.objectId, ...asked });
    expect(refused.isWell).toBe(false);
    expect(await objectState(world, restored)).toBe('owned');
    const unknown = await command({ name: 'purge', objectId: 'nothing', ...asked });
    expect(unknown.lines.join('\n')).toContain('There is no released file nothing');
  });

  test('takes uploads that nobody used, with what they wrote beside their key', async () => {
    const file = await uploadBytes(world, bytes(100));
    await writeFile(`${sourcePath(file)}.in`, bytes(10));
    await writeFile(`${sourcePath(file)}.tail`, bytes(10));
    await runSchedule<RemovalReport>(world, 'remove-files');
    expect(await objectState(world, file)).toBe('ready');
    world.clock.advance(day);
    await runSchedule<RemovalReport>(world, 'remove-files');
    expect(await objectState(world, file)).toBeUndefined();
    for (const path of ['', '.in', '.tail']) expect(existsSync(sourcePath(file) + path)).toBe(false);
  });
});

test('what a link of a direct upload stored again is removed when no link can do so any more', async () => {
  const used = await storeFile(world, bytes(100));
  const refused = await uploadBytes(world, bytes(100));
  const ids = [used.uploadId, refused.uploadId];
  await inDatabase(world, `update uploads set route = 'direct', created_at = $2 where id = any($1)`, [
    ids,
    world.clock.now(),
  ]);
  await inDatabase(world, `update uploads set state = 'used' where id = $1`, [used.uploadId]);
  await inDatabase(world, `update uploads set state = 'refused' where id = $1`, [refused.uploadId]);
  await inDatabase(world, `update stored_objects set state = 'removing' where id = $1`, [refused.objectId]);
  for (const file of [used, refused]) await writeFile(`${sourcePath(file)}.in`, bytes(10));
  await runSchedule<RemovalReport>(world, 'remove-files');
  expect(await objectState(world, refused)).toBe('removing');
  // More than one page.
  await inDatabase(
    world,
    `insert into uploads select (jsonb_populate_record(u, jsonb_build_object('id', u.id || '-' || n))).*
     from uploads u, generate_series(1, 250) n where u.id = $1`,
    [used.uploadId],
  );
  world.clock.advance(2 * day);
  // Marking is limited as a few statements are, so it waits for no provider.
  const { storage, ...others } = world.runtime;
  const providerOfCopy = () => {
    throw new Error('a provider was asked');
  };
  const work = new StorageWork({ ...others, storage: bound(storage, { providerOfCopy }) } as never);
  await markFilesForRemoval(work, undefined);
  await runSchedule<RemovalReport>(world, 'remove-files');
  expect(await objectState(world, refused)).toBeUndefined();
  for (const file of [used, refused]) expect(existsSync(`${sourcePath(file)}.in`)).toBe(false);
  expect((await readFile(sourcePath(used))).equals(used.content)).toBe(true);
  expect(await inDatabase(world, 'select id from uploads where object_id = $1', [used.objectId])).toEqual([]);
});

test('the audit restores what is missing, reports what is unknown, and deletes nothing', async () => {
  const [missing, lost, copyless] = [
    await storeFile(world, bytes(100)),
    await storeFile(world, bytes(100)),
    await storeFile(world, bytes(100)),
  ];
  for (const file of [missing, lost, copyless]) await untilCopied(world, file);
  await rm(sourcePath(missing));
  await rm(sourcePath(lost));
  await rm(copyPath(lost));
  await rm(copyPath(copyless));
  const unknown = join(missing.location.key, '..', '0123456789abcdef0123456789abcdef');
  const young = `${unknown}0`;
  for (const key of [unknown, young]) await writeFile(join(source, key), 'nobody knows it');
  // As a provider stores the parts of a long copy that is being made.
  const part = `${missing.location.key}~0123456789abcdef/000001`;
  await mkdir(join(source, part, '..'));
  await writeFile(join(source, part), 'a part');
  const old = new Date(world.clock.now().getTime() - 3 * day);
  await utimes(join(source, part), old, old);
  await utimes(join(source, unknown), old, old);
  await utimes(join(source, young), world.clock.now(), world.clock.now());

  const { isWell, lines } = await command({ name: 'audit' });
  expect(isWell).toBe(false);
  const text = lines.join('\n');
  expect(text).toContain('2 files were missing, 1 of them were restored.');
  expect(text).toContain('copies were missing');
  expect(text).toContain(`unknown: ${unknown}`);
  expect(text).not.toContain(young);
  expect(text).not.toContain(part);
  expect(text).toContain(`${lost.objectId}: its bytes are missing or different`);
  expect((await readFile(sourcePath(missing))).equals(missing.content)).toBe(true);
  expect(existsSync(join(source, unknown)) && existsSync(join(source, young))).toBe(true);
  await untilCopied(world, copyless);
  expect((await readFile(copyPath(copyless))).equals(copyless.content)).toBe(true);

  await rm(join(source, unknown));
  await forget(lost);
  const again = await runSchedule<AuditReport>(world, 'audit-storage');
  expect(again).toMatchObject({ missing: 0, missingCopies: 0, unknown: 0, unreachable: [] });
});

test('verify names bytes that are missing, shorter or replaced, and a bucket that does not answer as that', async () => {
  const names = ['missing', 'shorter', 'replaced', 'good'] as const;
  const files = new Map<(typeof names)[number], [object: StoredFile, copy: StoredFile]>();
  for (const name of names) files.set(name, [await storeFile(world, bytes(100)), await storeFile(world, bytes(100))]);
  for (const file of [...files.values()].flat()) await untilCopied(world, file);
  const [[missing, missingCopy], [shorter, shorterCopy], [replaced, replacedCopy]] = [...files.values()] as [
    [StoredFile, StoredFile],
    [StoredFile, StoredFile],
    [StoredFile, StoredFile],
  ];
  for (const path of [sourcePath(missing), copyPath(missingCopy)]) await rm(path);
  for (const path of [sourcePath(shorter), copyPath(shorterCopy)]) await writeFile(path, bytes(99));
  for (const path of [sourcePath(replaced), copyPath(replacedCopy)]) await writeFile(path, bytes(100));

  const counts: number[] = [];
  const verify = async () => {
    const lines = await verifyInstallation(world.runtime, {
      isQuiet: true,
      pageSize: 2,
      onProgress: (name, count) => name === 'objects at their providers' && counts.push(count),
    });
    return lines.filter((line) => line.includes(source)).toSorted();
  };
  const object = ({ objectId, location }: StoredFile, found: string) =>
    `object ${objectId} in disk ${source} ${found} (key ${location.key})`;
  const copy = ({ objectId, location }: StoredFile, found: string) =>
    `the copy of object ${objectId} in disk ${source}-backup ${found} (key ${location.key})`;
  const others = [
    object(missing, 'is missing'),
    object(shorter, 'has 99 bytes instead of 100'),
    copy(missingCopy, 'is missing'),
    copy(shorterCopy, 'has 99 bytes instead of 100'),
  ];
  const found = await verify();
  expect(found.filter((line) => !line.includes('was replaced')).toSorted()).toEqual(others.toSorted());
  expect(found.filter((line) => line.includes('was replaced'))).toEqual(
    [object(replaced, 'was replaced'), copy(replacedCopy, 'was replaced')].map((line) =>
      expect.stringContaining(line.slice(0, line.indexOf(' (key'))),
    ),
  );
  expect(counts.slice(0, 2)).toEqual([2, 4]);

  // A disk that is not mounted has lost nothing.
  await rename(source, `${source}-unmounted`);
  const unmounted = await verify();
  await rename(`${source}-unmounted`, source);
  expect(unmounted).toEqual([
    expect.stringMatching(/^disk .* could not be asked about \d+ objects and copies: The folder .* does not exist/),
    ...found.filter((line) => line.startsWith('the copy')),
  ]);
  for (const file of [...files.values()].flat()) await forget(file);
});

test('verify gives a bucket up after failures in a row, and not after as many spread over its objects', async () => {
  await world.reconfigure({ [`${disk}_BACKUP_ENABLED`]: 'false' });
  const files: StoredFile[] = [];
  for (let made = 0; made < 24; made++) files.push(await storeFile(world, bytes(1)));
  let [asked, failed] = [0, 0];
  // One after another, so that nothing but their order decides how many fail in a row.
  let last: Promise<unknown> = Promise.resolve();
  const { storage } = world.runtime;
  const providerFor: typeof storage.providerFor = (location) => {
    const provider = storage.providerFor(location);
    // Other tests may have left objects in another bucket.
    if (location.bucket !== source) return provider;
    const head: StorageProvider['head'] = async (key) => {
      asked += 1;
      const fails = asked % 2 === 1;
      const found = last.then(() => provider.head(key));
      last = found;
      if (!fails) return found;
      await found;
      failed += 1;
      throw new StorageError('unavailable', 'slow down');
    };
    return bound(provider, { head });
  };
  const lines = await verifyObjects({
    storage: bound(storage, { providerFor }),
    transact: (use) => new StorageWork(world.runtime as never).transact(use),
    pageSize: 100,
    onProgress: () => {},
  });
  expect(failed).toBeGreaterThan(10);
  expect(lines).toContain(`disk ${source} could not be asked about ${failed} objects and copies: slow down`);
  for (const file of files) await forget(file);
  await world.reconfigure({ [`${disk}_BACKUP_ENABLED`]: 'true' });
});

/** Other content of the same size and version, as a disk that rots, or a provider that lies, has it. */
async function replaceSilently(file: StoredFile, table: 'stored_objects' | 'object_copies'): Promise<void> {
  await writeFile(table === 'stored_objects' ? sourcePath(file) : copyPath(file), bytes(file.content.length));
  const bucket = table === 'stored_objects' ? file.location.bucket : `${file.location.bucket}-backup`;
  const found = await world.runtime.storage.providerOfCopy({ ...file.location, bucket }).head(file.location.key);
  const id = table === 'stored_objects' ? 'id' : 'object_id';
  await inDatabase(world, `update ${table} set version = $2 where ${id} = $1`, [file.objectId, found?.version]);
}

/** The same object with other methods. */
function bound<T extends object>(object: T, methods: Readonly<Record<string, unknown>>): T {
  return new Proxy(object, {
    get: (target, name) => {
      const found: unknown = methods[String(name)] ?? Reflect.get(target, name);
      return typeof found === 'function' && !(String(name) in methods) ? found.bind(target) : found;
    },
  });
}

/** A file whose content is lost would be found by every later test. */
async function forget({ objectId }: StoredFile): Promise<void> {
  await inDatabase(world, 'delete from object_copies where object_id = $1', [objectId]);
  await inDatabase(world, 'delete from uploads where object_id = $1', [objectId]);
  await inDatabase(world, 'delete from stored_objects where id = $1', [objectId]);
}
