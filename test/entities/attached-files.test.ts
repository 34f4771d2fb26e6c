import { afterAll, beforeAll, expect, test } from 'vitest';
import { file, registry, task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { UploadRows } from '#entities/kit/objects/upload-rows.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { cannotBeAsked } from '#tools/commands/verify-objects.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asPerson, transactAs } from '../kit/as-person.ts';
import { callerNow } from '../kit/caller-now.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { newUpload, readyUpload, uploadBy } from '../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../kit/world.ts';

const taskFile = registry.byKind('taskFile');
const statements: string[] = [];
let world: World;
let owner: Person;
let colleague: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({ observers: [{ statement: ({ text }) => void statements.push(text) }] });
  owner = await buildPerson(world);
  colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const missing = { code: 'not_found' };
const as = <T>(person: Person, work: (data: DataClient) => Promise<T>) =>
  asPerson(world, person, person.organization.id, work);
const upload = (person = owner, options = {}) => uploadBy(world, person, options);
const callerOf = (person: Person) => callerNow(world.runtime, person.user.id, person.organization.id);

/** Rows of the objects of uploads, in the order of the uploads. */
async function objectsOf(...uploads: string[]) {
  const rows = await asOwner<{ id: string; state: string; owner: string | null; upload: string }>(
    world,
    `select u.id, o.state, o.owner_kind || '/' || o.owner_id || '/' || o.owner_field as owner, u.state as upload
     from uploads u join stored_objects o on o.id = u.object_id where u.id = any($1)`,
    [uploads],
  );
  return uploads.map((id) => rows.find((row) => row.id === id));
}

test('a record takes the file of an upload: its object, its name, and what was measured', async () => {
  const content = await upload(owner, { content: 'Ten bytes.', declared: { name: 'a plan.txt' } });
  const made = await as(owner, (data) => data.create(file, { content }));
  expect(made).toMatchObject({ name: 'a plan.txt', contentType: 'text/plain', sizeBytes: 10 });
  expect(await objectsOf(content)).toMatchObject([
    { state: 'owned', owner: `file/${made.id}/content`, upload: 'used' },
  ]);
  const [stored] = await asOwner(world, 'select organization_id, copy_due_at from stored_objects where id = $1', [
    made.content,
  ]);
  expect(stored).toEqual({ organization_id: owner.organization.id, copy_due_at: world.clock.now() });
  const named = await as(owner, async (data) => data.create(file, { content: await upload(), name: 'mine.txt' }));
  expect(named.name).toBe('mine.txt');
});

test('a record cannot have a file that is not an upload of the caller that can be used', async () => {
  const elsewhere = await buildPerson(world);
  const rows = new UploadRows(world.runtime.database);
  const caller = await callerOf(owner);
  const now = world.clock.now();
  const used = await upload();
  const held = await as(owner, (data) => data.create(file, { content: used }));
  const { uploadId: unfinished, objectId } = await rows.begin(newUpload(caller, { at: now }));
  const { uploadId: arrived } = await rows.begin(newUpload(caller, { at: now }));
  await rows.arrive(arrived, uploadOwnerOf(caller), now);
  const { uploadId: refused } = await rows.begin(newUpload(caller, { at: now }));
  await rows.refuse(refused, uploadOwnerOf(caller), { code: 'checksum_mismatch', message: 'It is another file.' }, now);
  const past = new Date(now.getTime() - 7_200_000);
  const cases: [string, string, string][] = [
    ['no upload', newId(), 'not_found'],
    ['that of a colleague', await upload(colleague), 'not_found'],
    ['that of another organization', await upload(elsewhere), 'not_found'],
    [
      'that of the same person elsewhere',
      await readyUpload(world.runtime.database, { ...caller, organizationId: elsewhere.organization.id }, { at: now }),
      'not_found',
    ],
    [
      'that of the server',
      await readyUpload(
        world.runtime.database,
        { ...caller, kind: 'system', reason: 'test', subjectId: null },
        { at: now },
      ),
      'not_found',
    ],
    ['an expired one', await upload(owner, { at: past }), 'not_found'],
    ['a used one', used, 'not_found'],
    ['an object', objectId, 'not_found'],
    ['the object of another record', held.content, 'not_found'],
    ['one that is not complete', unfinished, 'upload_not_ready'],
    ['one that is being checked', arrived, 'upload_not_ready'],
    ['one that was refused', refused, 'checksum_mismatch'],
    ['one of another type', await upload(owner, { contentType: 'text/html' }), 'file_type_refused'],
  ];
  const before = await asOwner(world, 'select count(*) from files');
  const other = await as(owner, async (data) => data.create(file, { content: await upload() }));
  for (const [about, content, code] of cases) {
    await expect(
      as(owner, (data) => data.create(file, { content })),
      about,
    ).rejects.toMatchObject({ code });
    await expect(
      as(owner, (data) => data.update(file, other.id, { content })),
      about,
    ).rejects.toMatchObject({ code });
    const answer = await client.post('/v1/files', { content });
    expect(answer.body.code, about).toBe(code);
  }
  for (const content of [null, '', 'x', 7])
    expect((await client.post('/v1/files', { content })).body.code).toBe('invalid_input');
  expect((await client.post('/v1/files', { name: 'a' })).body.code).toBe('invalid_input');
  const [{ count }] = (await asOwner<{ count: string }>(world, 'select count(*) from files')) as [{ count: string }];
  expect(Number(count)).toBe(Number(before[0]?.['count']) + 1);
});

test('one upload is for one record, also within one request, in bulk, and by several at once', async () => {
  const content = await upload();
  const twice = as(owner, (data) =>
    data.createAll([
      { module: file, path: '/0', input: { content } },
      { module: file, path: '/1', input: { content } },
    ]),
  );
  await expect(twice).rejects.toMatchObject(missing);
  expect(await objectsOf(content)).toMatchObject([{ state: 'ready', upload: 'ready' }]);
  const held = await as(owner, async (data) => data.create(file, { content: await upload() }));
  await expect(as(owner, (data) => data.updateAll(file, [held.id], { content }))).rejects.toMatchObject({
    code: 'invalid_input',
  });
  const instance = await world.openInstance();
  const others = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const runtime = index % 2 === 0 ? world.runtime : instance.runtime;
      return transactAs(runtime, await callerOf(owner), ({ data }) => data.create(file, { content })).then(
        () => 'created',
        (error: unknown) => (error as { code: string }).code,
      );
    }),
  );
  expect(others.toSorted()).toEqual(['created', ...Array.from({ length: 7 }, () => 'not_found')]);
});

test('a request that fails leaves the upload to be used', async () => {
  const content = await upload();
  const failing = as(owner, async (data) => {
    await data.create(file, { content });
    await data.findOne(file, {});
    throw new Error('it ends here');
  });
  await expect(failing).rejects.toThrow('it ends here');
  expect(await objectsOf(content)).toMatchObject([{ state: 'ready', owner: null, upload: 'ready' }]);
  await as(owner, (data) => data.create(file, { content }));
});

test('a file that replaces another one releases it, and so does a deletion', async () => {
  const [first, second] = [await upload(), await upload(owner, { content: 'x', declared: { name: 'b.txt' } })];
  const { id } = await as(owner, (data) => data.create(file, { content: first }));
  const changed = await as(owner, (data) => data.update(file, id, { content: second }));
  expect(changed).toMatchObject({ name: 'b.txt', sizeBytes: 1, recordVersion: 2 });
  expect(await objectsOf(first, second)).toMatchObject([{ state: 'released' }, { state: 'owned' }]);
  await as(owner, (data) => data.remove(file, id));
  expect(await objectsOf(first, second)).toMatchObject([{ state: 'released' }, { state: 'released' }]);
});

test('a change that repeats the file of the record changes the rest, and keeps the file', async () => {
  const content = await upload();
  const made = await as(owner, (data) => data.create(file, { content }));
  const changed = await as(owner, (data) => data.update(file, made.id, { content: made.content, name: 'another.txt' }));
  expect(changed).toMatchObject({ content: made.content, name: 'another.txt', recordVersion: 2 });
  expect(await objectsOf(content)).toMatchObject([
    { state: 'owned', owner: `file/${made.id}/content`, upload: 'used' },
  ]);
});

test('an object that no record has owned goes only to whoever uploaded it', async () => {
  const content = await upload(colleague);
  const [{ object }] = (await asOwner<{ object: string }>(
    world,
    'select object_id as object from uploads where id = $1',
    [content],
  )) as [{ object: string }];
  const id = newId();
  const write = async (person: Person, owned: boolean) => {
    const { actor } = uploadOwnerOf(await callerOf(person));
    const owner = { kind: 'file', id, field: 'content', organization: person.organization.id };
    const change = { ...owner, object, owned, actor, at: world.clock.now() };
    await asOwner(world, 'select write_records($1)', [JSON.stringify({ objects: [change] })]);
  };
  await expect(write(owner, true)).rejects.toMatchObject({ code: 'CR410' });
  await write(colleague, true);
  expect(await objectsOf(content)).toMatchObject([{ owner: `file/${id}/content` }]);
  await write(colleague, false);
});

test('files of a task are deleted with it, and with a task above it', async () => {
  const above = await as(owner, (data) => data.create(task, { title: 'above' }));
  const below = await as(owner, (data) => data.create(task, { title: 'below', parentId: above.id }));
  const uploads = [await upload(), await upload()];
  await as(owner, (data) => data.create(taskFile, { taskId: above.id, content: uploads[0] }));
  await as(owner, (data) => data.create(taskFile, { taskId: below.id, content: uploads[1] }));
  await as(owner, (data) => data.remove(task, above.id));
  expect(await objectsOf(...uploads)).toMatchObject([{ state: 'released' }, { state: 'released' }]);
});

test('the owner of a released object can own it again, nobody else, and nobody once it is being removed', async () => {
  const content = await upload();
  const made = await as(owner, (data) => data.create(file, { content }));
  await as(owner, (data) => data.remove(file, made.id));
  const row = { object: made.content, kind: 'file', id: made.id, field: 'content', owned: true, at: new Date() };
  const write = (change: object) =>
    asOwner(world, 'select write_records($1)', [
      JSON.stringify({ objects: [{ ...row, organization: owner.organization.id, ...change }] }),
    ]);
  for (const change of [{ id: newId() }, { field: 'other' }, { kind: 'task_file' }])
    await expect(write(change)).rejects.toMatchObject({ code: 'CR410' });
  await write({});
  expect(await objectsOf(content)).toMatchObject([{ state: 'owned' }]);
  await write({ owned: false });
  await asOwner(world, `update stored_objects set state = 'removing' where id = $1`, [made.content]);
  await expect(write({})).rejects.toMatchObject({ code: 'CR410' });
});

test('whoever may view a task sees its files, and whoever may edit it attaches and removes them', async () => {
  const own = await as(owner, (data) => data.create(task, { title: 'of the owner' }));
  const mine = await as(owner, async (data) => data.create(taskFile, { taskId: own.id, content: await upload() }));
  await expect(as(colleague, (data) => data.get(taskFile, mine.id))).rejects.toMatchObject(missing);
  const theirs = await upload(colleague);
  const attach = () => as(colleague, (data) => data.create(taskFile, { taskId: own.id, content: theirs }));
  await expect(attach()).rejects.toMatchObject(missing);
  expect(await objectsOf(theirs)).toMatchObject([{ state: 'ready' }]);
  await as(owner, (data) => data.update(task, own.id, { assigneeId: colleague.user.id }));
  await attach();
  const visitor = await signedIn(world, colleague);
  const query = `{ task(id: "${own.id}") { files(orderBy: []) { edges { node { name file: content { __typename id name contentType sizeBytes sha256 } } } } } }`;
  const { data } = await visitor.graphql(query);
  expect(data.task.files.edges).toHaveLength(2);
  expect(data.task.files.edges[0].node.file).toEqual({
    __typename: 'StoredFile',
    id: mine['content'],
    name: 'notes.txt',
    contentType: 'text/plain',
    sizeBytes: 11,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  await as(colleague, (own) => own.remove(taskFile, mine.id));
  await as(owner, (data) => data.update(task, own.id, { assigneeId: null }));
  expect((await visitor.graphql(query)).body.errors[0].extensions.code).toBe('not_found');
});

test('answers of both APIs show the file, its history its id; nothing says where its bytes are', async () => {
  const made = await client.post('/v1/files', { content: await upload(), metadata: { a: 1 } });
  expect(made.status).toBe(201);
  const { id, content } = made.body;
  expect(content).toEqual({
    id: expect.any(String),
    name: 'notes.txt',
    content_type: 'text/plain',
    size_bytes: 11,
    sha256: expect.any(String),
    availability: 'available',
    url: expect.stringContaining(`/${content.id}/download`),
  });
  expect((await client.get(`/v1/files/${id}`)).body).toEqual(made.body);
  const list = await client.get(`/v1/files?name=notes.txt&content_type=text/plain`);
  expect(list.body.data.find((one: { id: string }) => one.id === id)).toEqual(made.body);
  const csv = `content,name\n${await upload()},from csv.txt\n`;
  const imported = await client.graphql(
    'mutation ($csv: String!) { createBulkCSVFile(csv: $csv) { files { name content { name sizeBytes } } } }',
    { csv },
  );
  expect(imported.data.createBulkCSVFile.files).toEqual([
    { name: 'from csv.txt', content: { name: 'notes.txt', sizeBytes: 11 } },
  ]);
  const history = await client.graphql(
    `{ fileHistories(where: { recordId: { eq: "${id}" } }) { edges { node { content name sizeBytes } } } }`,
  );
  expect(history.data.fileHistories.edges).toEqual([
    { node: { content: content.id, name: 'notes.txt', sizeBytes: 11 } },
  ]);
  const [{ key }] = (await asOwner<{ key: string }>(world, 'select key from stored_objects where id = $1', [
    content.id,
  ])) as [{ key: string }];
  expect(JSON.stringify([made, list, imported.body, history.body])).not.toContain(key);
  for (const measured of [{ content_type: 'text/html' }, { size_bytes: 1 }])
    expect((await client.post('/v1/files', { content: await upload(), ...measured })).body.code).toBe('invalid_input');
});

test('attaching a file costs one statement more', async () => {
  const send = async (body: object) => {
    statements.length = 0;
    expect((await client.post('/v1/task-files', body)).status).toBe(201);
    return statements.filter((text) => text.includes('claim_uploads')).length;
  };
  const { id } = await as(owner, (data) => data.create(task, { title: 'with files' }));
  expect(await send({ task_id: id, content: await upload() })).toBe(1);
  statements.length = 0;
  await client.post('/v1/tasks', { title: 'without files' });
  expect(statements.filter((text) => text.includes('claim_uploads'))).toEqual([]);
});

test('a person has a picture, which whoever sees the person sees, in any organization', async () => {
  const picture = (person = owner) => upload(person, { contentType: 'image/png', content: 'a picture' });
  const change =
    'mutation ($id: ID!, $avatar: Upload) { updateUser(id: $id, input: { avatar: $avatar }) { user { avatar { contentType sizeBytes } } } }';
  const set = (avatar: string | null) => client.graphql(change, { id: owner.user.id, avatar });
  const first = await picture();
  expect((await set(first)).data.updateUser.user.avatar).toEqual({ contentType: 'image/png', sizeBytes: 9 });
  const [object] = await asOwner(world, 'select owner_kind, organization_id from stored_objects where owner_id = $1', [
    owner.user.id,
  ]);
  expect(object).toEqual({ owner_kind: 'user', organization_id: null });
  const seen = `{ user(id: "${owner.user.id}") { avatar { contentType } } }`;
  expect((await (await signedIn(world, colleague)).graphql(seen)).data.user.avatar).toEqual({
    contentType: 'image/png',
  });
  const stranger = await signedIn(world, await buildPerson(world));
  expect((await stranger.graphql(seen)).body.errors[0].extensions.code).toBe('not_found');
  for (const wrong of [await upload(), await picture(colleague)])
    expect((await set(wrong)).body.errors).toHaveLength(1);
  const foreign = await (
    await signedIn(world, colleague)
  ).graphql(change, { id: owner.user.id, avatar: await picture(colleague) });
  expect(foreign.body.errors[0].extensions.code).toBe('permission_denied');
  expect((await set(null)).data.updateUser.user.avatar).toBeNull();
  expect(await objectsOf(first)).toMatchObject([{ state: 'released' }]);
});

test('verify finds a record and an object that disagree', async () => {
  const findings = async () =>
    (await verifyInstallation(world.runtime, { isQuiet: false })).filter(
      (line) => /file|object/.test(line) && !line.includes(cannotBeAsked),
    );
  const made = await as(owner, async (data) => data.create(file, { content: await upload() }));
  expect(await findings()).toEqual([]);
  const disagreements: [string, string, RegExp][] = [
    [
      `update files set size_bytes = 1 where id = $1`,
      `update files set size_bytes = 11 where id = $1`,
      /says something else/,
    ],
    [
      `update files set content = 'x' where id = $1`,
      `update files set content = '${made.content}' where id = $1`,
      /owns no such object/,
    ],
    [
      `update stored_objects set organization_id = null where owner_id = $1`,
      `update stored_objects set organization_id = '${owner.organization.id}' where owner_id = $1`,
      /owns no such object/,
    ],
    [
      `update files set deleted_at = now() where id = $1`,
      `update files set deleted_at = null where id = $1`,
      /has another file or none/,
    ],
    [
      `update uploads set state = 'ready' where object_id = (select content from files where id = $1)`,
      `update uploads set state = 'used' where object_id = (select content from files where id = $1)`,
      /is owned, its upload is ready/,
    ],
  ];
  for (const [damage, repair, line] of disagreements) {
    await asOwner(world, damage, [made.id]);
    expect((await findings()).join('\n')).toMatch(line);
    await asOwner(world, repair, [made.id]);
    expect(await findings()).toEqual([]);
  }
});

test('people of other organizations see no file, whatever the role of their statement may read', async () => {
  const { content } = await as(owner, async (data) => data.create(file, { content: await upload() }));
  const elsewhere = await buildPerson(world);
  const seen = async (person: Person) =>
    transactAs(world.runtime, await callerOf(person), async (unit) => {
      const session = await unit.readAs('app');
      return (await session.query('select id from stored_objects where id = $1', [content])).rowCount;
    });
  expect([await seen(owner), await seen(elsewhere)]).toEqual([1, 0]);
});
