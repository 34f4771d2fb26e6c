import { hash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#entities/kit/base/ids.ts';
import { openBenchInstallation, type BenchInstallation } from '../installation.ts';
import type { Bench } from '../row.ts';
import { compareFiles } from './compare-files.ts';
import { startEmptyWorkflows } from './empty-workflows.ts';
import { diskSettings } from '../../kit/storage-settings.ts';

/** `BENCH_FILES` makes it smaller while something is being tried. */
const count = Number(process.env['BENCH_FILES'] ?? 1_000);
const sizeBytes = 100_000;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

/** Copies of files a second, from rows that are due to verified copies, with the worker in this process on both sides. */
export const backupMany: Bench = {
  name: 'backup-1000',
  run: async (say) => {
    const folder = await mkdtemp(join(tmpdir(), 'core-bench-backups-'));
    const installation = await openBenchInstallation({
      ...diskSettings(join(folder, 'files')),
      CORE_OBJECTSTORAGE_PROVIDERS_DISK_BACKUP_ENABLED: 'true',
    });
    const { address } = installation.runtime.temporal.settings;
    try {
      await storeObjects(installation);
      const empty = await startEmptyWorkflows(address);
      await installation.startWorker();
      try {
        return await compareFiles({
          name: 'backup-1000',
          unit: 'copies',
          rounds,
          ours: {
            pid: process.pid,
            work: async () => {
              await makeDue(installation);
              const startedAt = performance.now();
              await installation.client.query('notify core_events');
              await untilCopied(installation);
              return { amount: count, seconds: (performance.now() - startedAt) / 1_000 };
            },
          },
          reference: {
            pid: process.pid,
            work: async () => {
              const startedAt = performance.now();
              await empty.run(count);
              return { amount: count, seconds: (performance.now() - startedAt) / 1_000 };
            },
          },
          note: `${count} files of 100 KB copied on disk, read back and compared; reference: as many workflows with one empty activity`,
          say,
        });
      } finally {
        await empty.stop();
      }
    } finally {
      await installation.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Files that records own, as uploads and the write of their records leave them. The records are invented. */
async function storeObjects({ runtime, client }: BenchInstallation): Promise<void> {
  const objects: object[] = [];
  for (let index = 0; index < count; index++) {
    const location = await runtime.storage.newLocation(null);
    const content = randomBytes(sizeBytes);
    const version = await runtime.storage.providerFor(location).put(location.key, [content], 'text/plain');
    objects.push({ ...location, id: newId(), version, sha256: hash('sha256', content, 'hex') });
  }
  await client.query(
    `insert into stored_objects (id, provider, bucket, region, key, version, sha256, size_bytes, state, name, content_type, owner_kind,
       owner_id, owner_field, created_at, owned_at)
     select id, provider, bucket, region, key, version, decode(sha256, 'hex'), $2, 'owned', 'content', 'text/plain', 'task', id, 'file', now(), now()
     from jsonb_to_recordset($1) as o (id text, provider text, bucket text, region text, key text, version text, sha256 text)`,
    [JSON.stringify(objects), sizeBytes],
  );
}

/** No object has a copy, as after their records were written. */
async function makeDue({ runtime, client }: BenchInstallation): Promise<void> {
  const { rows } = await client.query<{ provider: 'disk'; bucket: string; region: string; key: string }>(
    'delete from object_copies returning provider, bucket, region, key',
  );
  const [copy] = rows;
  if (copy) await runtime.storage.providerOfCopy(copy).delete(rows.map(({ key }) => key));
  await client.query('update stored_objects set copy_due_at = now()');
}

async function untilCopied({ client }: BenchInstallation): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ copied: number; failed: number }>(
      `select count(*) filter (where c.state = 'verified' and o.copy_due_at is null)::int as copied, count(*) filter (where c.state = 'failed')::int as failed
       from object_copies c join stored_objects o on o.id = c.object_id`,
    );
    if (rows[0]?.copied === count) return;
    if ((rows[0]?.failed ?? 0) > 0) throw new Error('backup-1000: a copy failed');
    await pause(50);
  }
}
