import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { fileVerdict, registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { fileFieldsOf } from '#entities/kit/model/files/stored-file.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { changeSettings } from '../../kit/records/organization-settings.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { createFile, storedUpload, type FileRecord } from '../../kit/files/stored-upload.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { diskSettings } from '../../kit/storage-settings.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let member: TestClient;
/** A program that reads files and gives verdicts. */
let scanner: TestClient;

const linksAtProvider = { CORE_OBJECTSTORAGE_PROVIDERS_DISK_ENDPOINT: 'https://disk.test' };

beforeAll(async () => {
  world = await openWorld({
    environment: {
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40),
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      ...diskSettings(mkdtempSync(join(inject('stack').folder, 'files-'))),
    },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  scanner = await programWith(['file:read', 'task_file:read', 'file_verdict:write']);
});
afterAll(() => world.close());
beforeEach(() => requireVerdicts(true));

/** Turns the setting on or off. */
async function requireVerdicts(filesNeedVerdict: boolean): Promise<void> {
  await changeSettings(world, owner.organization.id, { filesNeedVerdict });
}

async function programWith(scopes: readonly string[], by = client): Promise<TestClient> {
  const { status, body } = await by.post('/v1/api-tokens', { name: 'a scanner', scopes });
  expect(status, JSON.stringify(body)).toBe(201);
  return bearer(body.token);
}

function bearer(token: string): TestClient {
  const program = world.client();
  program.bearer = token;
  return program;
}

const pathOf = ({ objectId }: Pick<FileRecord, 'objectId'>) => `/v1/files/${objectId}/download`;

/** What a caller reads about a file: a link, and whether it can be downloaded. */
async function fileOf(
  by: TestClient,
  { id }: FileRecord,
): Promise<{ downloadUrl: string | null; availability: string }> {
  const query = 'query ($id: ID!) { file(id: $id) { content { downloadUrl availability } } }';
  const { data, body } = await by.graphql(query, { id });
  expect(body.errors, JSON.stringify(body)).toBeUndefined();
  const { availability } = (await by.get(`/v1/files/${id}`)).body.content;
  expect(availability.toUpperCase()).toBe(data.file.content.availability);
  return data.file.content;
}

function judge(objectId: string, verdict: string, by = scanner): Promise<TestAnswer> {
  return by.post('/v1/file-verdicts', { object_id: objectId, verdict, scanner: 'a scanner 1.0' });
}

async function judged(objectId: string, verdict: string): Promise<TestAnswer['body']> {
  const { status, body } = await judge(objectId, verdict);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** The file is withheld in every way in which it can be asked for. */
async function expectWithheld(record: FileRecord, availability: string): Promise<void> {
  const ways: Record<string, string>[] = [
    {},
    { range: 'bytes=0-1' },
    { range: 'bytes=100-' },
    { 'if-none-match': '*' },
  ];
  for (const headers of ways)
    expectProblem(await member.get(pathOf(record), headers), 'file_withheld', JSON.stringify(headers));
  expect((await member.request({ method: 'HEAD', url: pathOf(record) })).status).toBe(403);
  expect(await fileOf(member, record)).toEqual({ downloadUrl: null, availability });
}

describe('files, while the organization wants verdicts,', () => {
  test('a file is withheld until a program has found it clean, also one that was there before', async () => {
    await requireVerdicts(false);
    const record = await createFile(world, owner, client);
    const before = await fileOf(member, record);
    expect(before.availability).toBe('AVAILABLE');
    const { pathname, search } = new URL(before.downloadUrl ?? '');
    expect((await world.client().get(pathname + search)).status).toBe(200);
    await requireVerdicts(true);
    await expectWithheld(record, 'AWAITING_VERDICT');
    // So are links from before.
    expectProblem(await world.client().get(pathname + search), 'file_withheld');
    await judged(record.objectId, 'clean');
    expect((await member.get(pathOf(record))).body).toBe('Some notes.');
    expect((await world.client().get(pathname + search)).status).toBe(200);
    expect((await fileOf(member, record)).availability).toBe('AVAILABLE');
  });

  test('whoever may not view the file learns nothing about it', async () => {
    const record = await createFile(world, owner, client);
    const stranger = await signedIn(world, await buildPerson(world));
    expectProblem(await stranger.get(pathOf(record)), 'not_found');
    expectProblem(await world.client().get(pathOf(record)), 'unauthenticated');
  });

  test('programs that give verdicts read it, with credentials and with links to this server alone', async () => {
    await world.reconfigure(linksAtProvider);
    const record = await createFile(world, owner, client);
    expect((await scanner.get(pathOf(record))).body).toBe('Some notes.');
    const { downloadUrl, availability } = await fileOf(scanner, record);
    expect(availability).toBe('AWAITING_VERDICT');
    const { origin, pathname, search } = new URL(downloadUrl ?? '');
    expect(origin).toBe('https://api.test');
    expect((await world.client().get(pathname + search)).body).toBe('Some notes.');
    // Other programs do not.
    const reader = await programWith(['file:write', 'file_verdict:read']);
    expectProblem(await reader.get(pathOf(record)), 'file_withheld');
    expect((await fileOf(reader, record)).downloadUrl).toBeNull();
    // Nobody gets a link to the provider, which asks nobody.
    expect((await fileOf(client, record)).downloadUrl).toBeNull();
    await judged(record.objectId, 'clean');
    expect(new URL((await fileOf(client, record)).downloadUrl ?? '').origin).toBe('https://disk.test');
    await world.reconfigure({ CORE_OBJECTSTORAGE_PROVIDERS_DISK_ENDPOINT: undefined });
  });

  test('another content needs another verdict', async () => {
    const record = await createFile(world, owner, client);
    await judged(record.objectId, 'clean');
    const content = await storedUpload(world, owner, { bytes: Buffer.from('Other notes.') });
    const { body } = await client.mutate({ method: 'PATCH', url: `/v1/files/${record.id}`, payload: { content } });
    const replaced = { id: record.id, objectId: body.content.id };
    await expectWithheld(replaced, 'AWAITING_VERDICT');
    expectProblem(await judge(record.objectId, 'clean'), 'not_found', 'the former content');
    await judged(replaced.objectId, 'clean');
    expect((await member.get(pathOf(replaced))).body).toBe('Other notes.');
  });

  test('files of tasks are withheld, pictures of people and files of other organizations are not', async () => {
    const task = (await client.post('/v1/tasks', { title: 'one' })).body.id;
    const attach = { task_id: task, content: await storedUpload(world, owner) };
    const { body } = await client.post('/v1/task-files', attach);
    const objectId = body.content.id;
    expect(body.content.availability).toBe('awaiting_verdict');
    expectProblem(await client.get(pathOf({ objectId })), 'file_withheld');
    expect(await judged(objectId, 'clean')).toMatchObject({ task_file_id: body.id, file_id: null });
    expect((await client.get(pathOf({ objectId }))).status).toBe(200);

    const image = { bytes: Buffer.from('\x89PNG'), name: 'a.png', contentType: 'image/png' };
    const avatar = await storedUpload(world, owner, image);
    const url = `/v1/users/${owner.user.id}`;
    const user = await client.mutate({ method: 'PATCH', url, payload: { avatar } });
    expect(user.body.avatar.availability).toBe('available');
    expect((await member.get(pathOf({ objectId: user.body.avatar.id }))).status).toBe(200);
    expectProblem(await judge(user.body.avatar.id, 'infected'), 'not_found');

    const other = await buildPerson(world);
    const by = await signedIn(world, other);
    expect((await fileOf(by, await createFile(world, other, by))).availability).toBe('AVAILABLE');
  });
});

describe('a verdict', () => {
  test('that a file is infected withholds it whatever the setting says, until a later one says otherwise', async () => {
    const record = await createFile(world, owner, client);
    await judged(record.objectId, 'clean');
    await judged(record.objectId, 'infected');
    await expectWithheld(record, 'INFECTED');
    await requireVerdicts(false);
    await expectWithheld(record, 'INFECTED');
    expect((await scanner.get(pathOf(record))).status).toBe(200);
    world.clock.advance(1);
    await judged(record.objectId, 'clean');
    expect((await member.get(pathOf(record))).status).toBe(200);
  });

  test('that says infected counts against one that was not made later, whichever is written last', async () => {
    for (const [first, second] of [
      ['infected', 'clean'],
      ['clean', 'infected'],
    ] as const)
      // The clock of another process may be behind.
      for (const aheadMs of [0, 1]) {
        const record = await createFile(world, owner, client);
        await judged(record.objectId, first);
        world.clock.advance(-aheadMs);
        await judged(record.objectId, second);
        await expectWithheld(record, 'INFECTED');
        world.clock.advance(aheadMs + 1);
        await judged(record.objectId, 'clean');
        expect((await member.get(pathOf(record))).status, `${first}, ${second}`).toBe(200);
      }
  });

  test('records an event', async () => {
    const record = await createFile(world, owner, client);
    const { id } = await judged(record.objectId, 'infected');
    const events = await asOwner(world, 'select topic, organization_id from events where entity_id = $1', [id]);
    expect(events).toEqual([{ topic: 'file_verdict.created', organization_id: owner.organization.id }]);
  });

  test('is read by those who can view the file', async () => {
    const record = await createFile(world, owner, client);
    const { id } = await judged(record.objectId, 'infected');
    const query = 'query ($id: ID!) { file(id: $id) { verdicts { edges { node { id verdict scanner } } } } }';
    expect((await member.graphql(query, { id: record.id })).data.file.verdicts.edges).toEqual([
      { node: { id, verdict: 'INFECTED', scanner: 'a scanner 1.0' } },
    ]);
    const task = (await client.post('/v1/tasks', { title: 'one' })).body.id;
    const attach = { task_id: task, content: await storedUpload(world, owner) };
    const attached = (await client.post('/v1/task-files', attach)).body;
    const verdict = await judged(attached.content.id, 'clean');
    expect((await client.get(`/v1/file-verdicts/${verdict.id}`)).status).toBe(200);
    expectProblem(await member.get(`/v1/file-verdicts/${verdict.id}`), 'not_found');
    // With the file it is gone.
    await client.mutate({ method: 'DELETE', url: `/v1/files/${record.id}` });
    expectProblem(await client.get(`/v1/file-verdicts/${id}`), 'not_found');
  });

  test('is given by programs with its scope alone, about files that they can view', async () => {
    const record = await createFile(world, owner, client);
    expectProblem(await judge(record.objectId, 'clean', client), 'permission_denied', 'an owner');
    expectProblem(await judge(record.objectId, 'clean', member), 'permission_denied', 'a member');
    const personal = { name: 'a program', scopes: ['file:read', 'file_verdict:write'] };
    expectProblem(await client.post('/v1/personal-access-tokens', personal), 'invalid_input', 'a token of a person');
    const reader = await programWith(['file:write', 'file_verdict:read']);
    expectProblem(
      await judge(record.objectId, 'clean', reader),
      'permission_denied',
      'a token that only reads verdicts',
    );
    const blind = await programWith(['file_verdict:write']);
    expectProblem(await judge(record.objectId, 'clean', blind), 'not_found', 'a token that reads no files');
    const stranger = await signedIn(world, await buildPerson(world));
    const theirs = await programWith(['file:read', 'file_verdict:write'], stranger);
    expectProblem(await judge(record.objectId, 'clean', theirs), 'not_found', 'a token of another organization');
    expectProblem(await theirs.get(pathOf(record)), 'not_found');
    expectProblem(await judge(record.id, 'clean'), 'not_found', 'the id of the record');
    expectProblem(await judge(newId(), 'clean'), 'not_found');
    expectProblem(await judge(record.objectId, 'unknown'), 'invalid_input');
    const upload = await storedUpload(world, owner);
    const [row] = await asOwner<{ id: string }>(world, 'select object_id as id from uploads where id = $1', [upload]);
    expectProblem(await judge(row?.id ?? '', 'clean'), 'not_found', 'an upload that no record has taken');
    await expectWithheld(record, 'AWAITING_VERDICT');
    // Whoever lets a program give verdicts has all rights on files.
    const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
    const scopes = ['file_verdict:write'];
    const refused = await (await signedIn(world, admin)).post('/v1/api-tokens', { name: 'a scanner', scopes });
    expectProblem(refused, 'permission_denied');
  });

  test('that says infected counts, whatever else the same request says', async () => {
    const record = await createFile(world, owner, client);
    const inputs = ['INFECTED', 'CLEAN'].map((verdict) => ({
      objectId: record.objectId,
      verdict,
      scanner: 'a scanner',
    }));
    const mutation =
      'mutation ($inputs: [CreateFileVerdictInput!]!) { createBulkFileVerdict(inputs: $inputs) { fileVerdicts { id } } }';
    const { errors } = await scanner.graphql(mutation, { inputs });
    expect(errors).toBeUndefined();
    await expectWithheld(record, 'INFECTED');
  });

  test('is refused for a file that the record has lost meanwhile', async () => {
    const record = await createFile(world, owner, client);
    await client.mutate({ method: 'DELETE', url: `/v1/files/${record.id}` });
    const verdicts = [{ object: record.objectId, organization: owner.organization.id, verdict: 'clean' }];
    const write = asOwner(world, 'select write_records($1)', [JSON.stringify({ verdicts })]);
    await expect(write).rejects.toMatchObject({ code: 'CR410' });
  });
});

test('every kind whose records have files of an organization takes verdicts, or waits for none', async () => {
  const kinds = registry.modules.filter(
    (module) => module.tenancy === 'organization' && fileFieldsOf(module).length > 0,
  );
  const targets = new Set(Object.values(fileVerdict.fields).flatMap(({ target }) => target ?? []));
  await changeSettings(world, owner.organization.id, { filesNeedVerdict: true });
  const waiting = await asOwner<{ kind: string }>(
    world,
    `select kind from unnest($1::text[]) as kind where file_availability(null, $2, kind) = 'awaiting_verdict'`,
    [kinds.map(({ topic }) => topic), owner.organization.id],
  );
  const takers = kinds.filter(({ kind }) => targets.has(kind));
  expect(waiting.map(({ kind }) => kind)).toEqual(takers.map(({ topic }) => topic));
  expect(kinds.filter((each) => !takers.includes(each)).map(({ kind }) => kind)).toEqual(['export', 'import']);
});
