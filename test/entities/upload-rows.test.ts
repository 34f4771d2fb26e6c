import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { callerOf } from '#entities/kit/model/caller.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import { asOwner } from '../kit/as-owner.ts';
import { locationOfNothing, newUpload, readyUpload } from '../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let rows: UploadRows;
beforeAll(async () => {
  world = await openWorld();
  rows = new UploadRows(world.runtime.database);
});
afterAll(() => world.close());

const caller = callerOf({ kind: 'user', subjectId: newId(), organizationId: newId() });
const owner = uploadOwnerOf(caller);
const now = new Date();
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const measured = { sizeBytes: 4, sha256: createHash('sha256').update('text').digest(), contentType: 'text/plain' };

test('an upload has a row before its bytes, and then says what they are', async () => {
  const location = locationOfNothing();
  const { uploadId } = await rows.begin(newUpload(caller, { location, at: now }));
  expect(await rows.find(uploadId, owner, now)).toMatchObject({
    id: uploadId,
    state: 'receiving',
    location,
    parts: [],
  });
  await rows.finish(uploadId, owner, { ...measured, version: 'v1' }, now);
  await rows.finish(uploadId, owner, { ...measured, version: 'v1' }, now);
  expect(await rows.find(uploadId, owner, now)).toMatchObject({ state: 'ready' });
});

test('nobody else finds it, and nobody when its time is over', async () => {
  const uploadId = await readyUpload(world.runtime.database, caller, { at: now });
  const others = [
    { ...caller, subjectId: newId() },
    { ...caller, organizationId: newId() },
    { ...caller, organizationId: null },
    { ...caller, kind: 'api_token' as const },
    {
      ...caller,
      delegation: { id: newId(), type: 'impersonation' as const, actorId: newId(), actorName: 'A', expiresAt: '' },
    },
  ];
  for (const other of others) expect(await rows.find(uploadId, uploadOwnerOf(other), now)).toBeUndefined();
  expect(await rows.find(uploadId, owner, later(3_601))).toBeUndefined();
  expect(await rows.find(newId(), owner, now)).toBeUndefined();
  expect(await rows.find(uploadId, owner, now)).toBeDefined();
});

test('a refused upload says why, and does not become ready', async () => {
  const { uploadId } = await rows.begin(newUpload(caller, { at: now }));
  const problem = { code: 'file_type_refused', message: 'An executable is not accepted.' } as const;
  await rows.refuse(uploadId, owner, problem, now);
  expect(await rows.find(uploadId, owner, now)).toMatchObject({ state: 'refused', problem });
  await expect(rows.finish(uploadId, owner, { ...measured, version: 'v1' }, now)).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('nobody else completes, refuses or continues it', async () => {
  const { uploadId } = await rows.begin(newUpload(caller, { route: 'resumable', at: now }));
  expect(await rows.takeWriter(uploadId, owner, 'writer', later(15), now)).toBe(true);
  for (const other of [
    { ...owner, actor: `user:${newId()}` },
    { ...owner, organizationId: newId() },
  ]) {
    await expect(rows.finish(uploadId, other, { ...measured, version: 'v1' }, now)).rejects.toMatchObject({
      code: 'not_found',
    });
    await rows.refuse(uploadId, other, { code: 'invalid_input', message: 'It is not wanted.' }, now);
    await expect(
      rows.saveParts(uploadId, other, 'writer', { received: 9, tailBytes: 9, parts: [] }),
    ).rejects.toMatchObject({ code: 'upload_busy' });
  }
  expect(await rows.find(uploadId, owner, now)).toMatchObject({ state: 'receiving', received: 0 });
});

test('what one caller uploads and no record takes is limited', async () => {
  const person = callerOf({ kind: 'user', subjectId: newId(), organizationId: newId() });
  const begin = (sizeBytes?: number, by = person) =>
    rows.begin(
      newUpload(by, { declared: { name: 'a.txt', ...(sizeBytes ? { sizeBytes } : {}) }, at: now, maxUnusedBytes: 10 }),
    );
  const { uploadId } = await begin();
  await rows.finish(uploadId, uploadOwnerOf(person), { ...measured, version: 'v1' }, now);
  await begin(6);
  const refused = { code: 'limit_exceeded' };
  await expect(begin(1)).rejects.toMatchObject(refused);
  await expect(begin(11, caller)).rejects.toMatchObject(refused);
  await begin(10, callerOf({ kind: 'user', subjectId: newId(), organizationId: person.organizationId }));
});

test('an upload whose time is over does not become ready', async () => {
  const { uploadId } = await rows.begin(newUpload(caller, { at: now, expiresAt: later(1) }));
  await expect(rows.finish(uploadId, owner, { ...measured, version: 'v1' }, later(2))).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('a resumable upload has one writer at a time, whose parts stay', async () => {
  const { uploadId } = await rows.begin(newUpload(caller, { route: 'resumable', at: now }));
  expect(await rows.takeWriter(uploadId, owner, 'first', later(15), now)).toBe(true);
  expect(await rows.takeWriter(uploadId, owner, 'first', later(20), now)).toBe(true);
  expect(await rows.takeWriter(uploadId, owner, 'second', later(15), now)).toBe(false);
  expect(
    await rows.takeWriter(uploadId, uploadOwnerOf({ ...caller, subjectId: newId() }), 'first', later(15), now),
  ).toBe(false);
  const part = { number: 1, size: 5, tag: 'a' };
  await rows.saveParts(
    uploadId,
    owner,
    'first',
    { received: 7, tailBytes: 2, parts: [part], partsRef: { id: 'p' } },
    later(20),
  );
  // Whoever was cut off is followed by the next request when its time ends.
  expect(await rows.takeWriter(uploadId, owner, 'second', later(40), later(20))).toBe(true);
  await expect(
    rows.saveParts(uploadId, owner, 'first', { received: 9, tailBytes: 4, parts: [] }, later(20)),
  ).rejects.toMatchObject({ code: 'upload_busy' });
  const replaced = { ...part, tag: 'b' };
  await rows.saveParts(uploadId, owner, 'second', {
    received: 10,
    tailBytes: 0,
    parts: [replaced, { ...part, number: 2 }],
  });
  expect(await rows.find(uploadId, owner, now)).toMatchObject({
    received: 10,
    tailBytes: 0,
    partsRef: { id: 'p' },
    parts: [replaced, { ...part, number: 2 }],
  });
  // It left, so anybody of the owner's requests may write.
  expect(await rows.takeWriter(uploadId, owner, 'third', later(15), now)).toBe(true);
  expect(await rows.arrive(uploadId, owner, now)).toBe('arrived');
  expect(await rows.arrive(uploadId, owner, now)).toBe('arrived');
  expect(await rows.takeWriter(uploadId, owner, 'third', later(15), now)).toBe(false);
  await rows.finish(uploadId, owner, { ...measured, version: 'v1' }, now);
  expect(await rows.arrive(uploadId, owner, now)).toBe('ready');
});

test('of many writers at the same time one may write', async () => {
  const { uploadId } = await rows.begin(newUpload(caller, { route: 'resumable', at: now }));
  const writers = ['a', 'b', 'c', 'd', 'e', 'f'];
  const taken = await Promise.all(writers.map((writer) => rows.takeWriter(uploadId, owner, writer, later(15), now)));
  expect(taken.filter(Boolean)).toHaveLength(1);
});

test('an upload is claimed in the organization of the transaction alone, whatever the claim names', async () => {
  const uploadId = await readyUpload(world.runtime.database, caller, { at: now });
  const claim = { ids: [uploadId], actor: owner.actor, organization_id: owner.organizationId, at: now };
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  const claimedIn = async (organizationId: string) => {
    await client.query('begin');
    try {
      await client.query('set local role core_app');
      await client.query(`select set_config('core.organization_id', $1, true)`, [organizationId]);
      return (await client.query('select upload_id from claim_uploads($1)', [JSON.stringify(claim)])).rows.length;
    } finally {
      await client.query('rollback');
    }
  };
  try {
    expect([await claimedIn(newId()), await claimedIn(''), await claimedIn(owner.organizationId ?? '')]).toEqual([
      0, 0, 1,
    ]);
  } finally {
    await client.end();
  }
});

test('an upload belongs to one field of one record: two that want it in one statement both fail', async () => {
  const uploadId = await readyUpload(world.runtime.database, caller, { at: now });
  const [row] = await asOwner<{ object: string }>(world, 'select object_id as object from uploads where id = $1', [
    uploadId,
  ]);
  const change = { object: row?.object, kind: 'file', field: 'content', organization: null, owned: true };
  const by = { actor: owner.actor, at: now };
  const objects = [newId(), newId()].map((id) => ({ ...change, ...by, id }));
  const write = asOwner(world, 'select write_records($1)', [JSON.stringify({ objects })]);
  await expect(write).rejects.toMatchObject({ code: 'CR410' });
  expect(await asOwner(world, 'select state, owner_id from stored_objects where id = $1', [row?.object])).toEqual([
    { state: 'ready', owner_id: null },
  ]);
  const stranger = asOwner(world, 'select write_records($1)', [
    JSON.stringify({ objects: [{ ...objects[0], actor: 'user:somebody else' }] }),
  ]);
  await expect(stranger).rejects.toMatchObject({ code: 'CR410' });
});
