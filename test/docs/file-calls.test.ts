import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { uploadPurposes } from '#entities/kit/model/files/upload-purpose.ts';
import { eventually } from '../kit/eventually.ts';
import { changeSettings } from '../kit/records/organization-settings.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { createFile } from '../kit/files/stored-upload.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let shell: ReaderShell;
let url: string;
beforeAll(async () => {
  world = await openWorld({
    worker: ['workflows', 'storage'],
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40) },
  });
  ({ url } = await world.listen());
  shell = new ReaderShell(dirname(world.mailFolder), 'reader');
});
afterAll(async () => {
  await shell?.close();
  await world.close();
});

test('the calls about uploads do what the page says', async () => {
  await world.reconfigure({ CORE_INTEGRATIONS_EMAIL_APIURL: url });
  const client = await signedIn(world, await buildPerson(world));
  await shell.run(`API=${url}\nTOKEN=${client.cookies.get('access_token')}\n`);
  const [form = '', graphql = '', resumable = '', direct = '', ...more] = codeBlocks('docs/files.md', 'sh', 'Uploads');
  expect(more).toEqual([]);
  expect(JSON.parse(await shell.run(form))).toMatchObject({
    name: 'notes.txt',
    content_type: 'text/plain',
    size_bytes: 11,
  });
  expect(JSON.parse(await shell.run(graphql))).toEqual({
    data: { createFile: { file: { name: 'notes.txt', sizeBytes: expect.anything() } } },
  });
  const { id, status } = JSON.parse(await shell.run(resumable)) as { id: string; status: string };
  expect(['arrived', 'ready']).toContain(status);
  expect(await shell.run(direct)).toBe('');
  await eventually(async () => (await client.get(`/v1/uploads/${id}`)).body.status === 'ready');
  // A record takes it, once.
  const taken = await client.post('/v1/files', { content: id });
  expect({ status: taken.status, body: taken.body }).toMatchObject({ status: 201, body: { name: 'notes.txt' } });
  expect((await client.post('/v1/files', { content: id })).body.code).toBe('not_found');
});

test('the calls about scanners do what the page says', async () => {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  const scopes = ['file:read', 'task_file:read', 'file_verdict:write'];
  const { body } = await client.post('/v1/api-tokens', { name: 'a scanner', scopes });
  const { id: organizationId } = person.organization;
  await changeSettings(world, organizationId, { filesNeedVerdict: true });
  const { objectId } = await createFile(world, person, client);
  expect((await client.get(`/v1/files/${objectId}/download`)).body.code).toBe('file_withheld');
  const [call = '', ...more] = codeBlocks('docs/files.md', 'sh', 'Scanners');
  expect(more).toEqual([]);
  await shell.run(`API=${url}\nSCANNER=${body.token}\n`);
  expect(JSON.parse(await shell.run(call))).toMatchObject({ object_id: objectId, verdict: 'clean' });
  expect((await client.get(`/v1/files/${objectId}/download`)).body).toBe('Some notes.');
});

describe('what the page names is there', () => {
  const page = readFileSync('docs/files.md', 'utf8');

  test('every field that takes files, with its kind', () => {
    const list = /^- Fields that take files: (.*?)^- /ms.exec(page)?.[1] ?? '';
    const named = [...list.matchAll(/`(\w+)` of\s+`\/v1\/([a-z-]+)(?:\/<id>)?`/g)].map(([, field, kinds = '']) => {
      const module = registry.modules.find(({ table }) => table === kinds.replaceAll('-', '_'));
      return `${module?.topic}.${field}`;
    });
    expect(named.toSorted()).toEqual([...uploadPurposes(registry).keys()].toSorted());
    for (const [, purpose = ''] of page.matchAll(/\?purpose=([\w.]+)/g))
      expect([...uploadPurposes(registry).keys()]).toContain(purpose);
  });

  test('every address', async () => {
    const { body } = await world.client().get('/openapi.json');
    const routes = Object.keys(body.paths).map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
    const addresses = [...page.matchAll(/\/v1\/[\w/$<>-]+/g)];
    expect(addresses.length).toBeGreaterThan(10);
    for (const [address] of addresses)
      expect(
        routes.filter((route) => route.test(address)),
        address,
      ).not.toEqual([]);
  });
});
