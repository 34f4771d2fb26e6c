import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ListMultipartUploadsCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { compareText } from '#entities/kit/base/compare-text.ts';
import type { Location } from '#entities/kit/objects/stored-object.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import type { RemovalReport } from '#workflows/files/remove-files.contract.ts';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { runSchedule } from '../kit/sweep.ts';
import type { World } from '../kit/world.ts';
import type { KnownFile } from './file-traffic.ts';

/** A bucket with everything that is stored in it, and not only what its listing shows. */
export interface Stored {
  readonly provider: string;
  readonly bucket: string;
  readonly keys: () => Promise<readonly string[]>;
}

export function storedOnDisk(folder: string): Stored {
  const keys = async () => {
    // It is made with the first file.
    if (!existsSync(folder)) return [];
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    return found
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  };
  return { provider: 'disk', bucket: folder, keys };
}

export function storedInBucket(client: S3Client, bucket: string): Stored {
  const keys = async () => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    const found = Uploads.map(({ Key }) => `parts of ${Key}`);
    for (let after: string | undefined, hasMore = true; hasMore; after = found.at(-1)) {
      const { Contents = [], IsTruncated } = await client.send(
        new ListObjectsV2Command({ Bucket: bucket, ...(after === undefined ? {} : { StartAfter: after }) }),
      );
      found.push(...Contents.map(({ Key = '' }) => Key));
      hasMore = IsTruncated === true;
    }
    return found;
  };
  return { provider: 'bucketstore', bucket, keys };
}

/** What was uploaded and not taken, and what was released, is old enough to be removed; what waits to be done again is due. */
export async function letTimePass(world: World): Promise<void> {
  await asOwner(
    world,
    `update stored_objects set released_at = released_at - interval '9 days' where state = 'released'`,
  );
  await asOwner(
    world,
    `update stored_objects set copy_due_at = now() - interval '1 second' where copy_due_at > now() + interval '1 minute'`,
  );
  await asOwner(
    world,
    `update uploads set check_due_at = now() - interval '1 second' where check_due_at > now() + interval '1 minute'`,
  );
}

interface StoredRow {
  readonly id: string;
  readonly sha256: Buffer;
  readonly location: Location;
  readonly copy: Location | null;
}

/**
 * After the traffic has ended: every record has its bytes and an equal copy, and nothing else is stored.
 * @returns the number of copies that were compared
 */
export async function expectNoByteLost(
  world: World,
  known: ReadonlyMap<string, KnownFile>,
  stored: readonly Stored[],
): Promise<number> {
  // No client writes by a link any more, whatever the link would still let it do.
  await asOwner(
    world,
    `update uploads set created_at = created_at - interval '9 days',
       expires_at = case when state = 'used' then expires_at else expires_at - interval '9 days' end`,
  );
  await eventually(async () => {
    await letTimePass(world);
    await runSchedule<RemovalReport>(world, 'remove-files');
    const left = await asOwner<{ object: unknown }>(
      world,
      `select jsonb_build_object('object', to_jsonb(o), 'copy', to_jsonb(c)) as object
       from stored_objects o left join object_copies c on c.object_id = o.id
       where o.state <> 'owned' or o.copy_due_at is not null or c.state is distinct from 'verified' or c.parts_ref is not null`,
    );
    if (left.length === 0) return true;
    await pause(250);
    throw new Error(`${left.length} objects are not at rest, the first of them ${JSON.stringify(left[0]?.object)}`);
  });
  // What killed processes left of writes, as if it were old.
  for (const { provider, bucket, keys } of stored)
    if (provider === 'disk')
      for (const key of await keys()) if (key.startsWith('.incoming/')) await utimes(join(bucket, key), 1, 1);
  await runSchedule<RemovalReport>(world, 'remove-files');

  const rows = await asOwner<StoredRow>(
    world,
    `select r.id, o.sha256, jsonb_build_object('provider', o.provider, 'bucket', o.bucket, 'region', o.region, 'key', o.key) as location,
       jsonb_build_object('provider', c.provider, 'bucket', c.bucket, 'region', c.region, 'key', c.key) as copy
     from (select id, content from files where deleted_at is null union all select id, content from task_files where deleted_at is null) as r
       join stored_objects o on o.id = r.content and o.owner_id = r.id left join object_copies c on c.object_id = o.id`,
  );
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...known.keys()].toSorted());
  const different: string[] = [];
  for (const { id, sha256, location, copy } of rows) {
    const expected = hashOf(known.get(id)?.content ?? Buffer.alloc(0));
    const places = [location, copy].filter((place) => place !== null);
    const found = [sha256, ...(await Promise.all(places.map((place) => hashStored(world, place))))];
    if (copy === null || !found.every((hash) => hash?.equals(expected))) different.push(id);
  }
  expect(different).toEqual([]);
  for (const { provider, bucket, keys } of stored) {
    const isHere = (place: Location | null) => place?.provider === provider && place.bucket === bucket;
    const expected = rows.flatMap(({ location, copy }) =>
      [location, copy].filter(isHere).map((place) => place?.key ?? ''),
    );
    expect((await keys()).toSorted(), `${provider} ${bucket}`).toEqual(expected.toSorted(compareText));
  }
  world.clock.advance(Date.now() - world.clock.now().getTime());
  await eventually(async () => {
    const lines = await verifyInstallation(world.runtime, { isQuiet: true });
    if (lines.length > 0) throw new Error(lines.join('\n'));
    return true;
  });
  return rows.length;
}

async function hashStored({ runtime }: World, location: Location): Promise<Buffer> {
  const { stream } = await runtime.storage.providerOfCopy(location).read(location.key);
  const hash = createHash('sha256');
  for await (const piece of stream) hash.update(piece as Buffer);
  return hash.digest();
}

function hashOf(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}
