import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem, messageOf } from '../../kit/expect-problem.ts';
import { formOf, type FormPart } from '../../kit/files/multipart-form.ts';
import { exchange } from '../../kit/http/raw-http.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld();
  client = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

// The title shows which upload a variable got.
const query = 'mutation ($input: CreateTaskInput!) { createTask(input: $input) { task { title } } }';
const operations = { query, variables: { input: { title: null } } };
const content = { name: 'notes.txt', type: 'text/plain', content: 'Some notes.' };
const json = (field: string, value: unknown): FormPart => ({ field, content: JSON.stringify(value) });
const map = { 0: ['variables.input.title'] };
const form = [json('operations', operations), json('map', map), { field: '0', ...content }];

function send(parts: readonly FormPart[], sender = client): Promise<TestAnswer> {
  const { payload, type } = formOf(parts);
  return sender.mutate({ method: 'POST', url: '/graphql', payload, headers: { 'content-type': type } });
}

function uploads(): Promise<{ id: string; state: string }[]> {
  return asOwner<{ id: string; state: string }>(world, 'select id, state from uploads order by id');
}

test('a file becomes an upload, whose id its variable gets', async () => {
  const { status, body } = await send(form);
  expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
  expect(await uploads()).toEqual([{ id: body.data.createTask.task.title, state: 'ready' }]);
});

test('an operation that fails frees its files', async () => {
  const bad = { query, variables: { input: { title: null, priority: 'none' } } };
  const answer = await send([json('operations', bad), json('map', map), { field: '0', ...content }]);
  expect(answer.body.errors).toHaveLength(1);
  await eventually(async () => (await uploads()).at(-1)?.state === 'refused');
});

describe('a multipart operation is refused before a file is stored', () => {
  const refused = async (parts: readonly FormPart[], code: Parameters<typeof expectProblem>[1], about: string) => {
    const before = (await uploads()).length;
    expectProblem(await send(parts), code, about);
    expect(await uploads(), about).toHaveLength(before);
  };

  test('a request without CSRF token, or of nobody', async () => {
    const { payload, type } = formOf(form);
    const request = { method: 'POST', url: '/graphql', payload, headers: { 'content-type': type } } as const;
    expectProblem(await client.request(request), 'csrf_token_missing');
    expectProblem(await send(form, world.client()), 'unauthenticated');
  });

  test('a form in another order', async () => {
    const [operation, mapping, file] = form as [FormPart, FormPart, FormPart];
    await refused([file, operation, mapping], 'invalid_input', 'file first');
    await refused([mapping, operation, file], 'invalid_input', 'map first');
    await refused([operation, file], 'invalid_input', 'no map');
    await refused([operation, operation, mapping], 'invalid_input', 'two operations');
    await refused([operation, mapping], 'invalid_input', 'no file');
    await refused([{ field: 'operations', content: '{' }], 'malformed_body', 'no JSON');
    await refused([json('operations', [operations])], 'invalid_input', 'a list of operations');
    await refused([json('operations', { query: 'x'.repeat(1_048_577) })], 'limit_exceeded', 'too long');
  });

  test('a map that names something else than one null', async () => {
    const [operation] = form as [FormPart];
    const mapped = (value: unknown) => [operation, json('map', value), { field: '0', ...content }];
    for (const path of [
      'query',
      'variables',
      'variables.input',
      'variables.input.other',
      'variables.__proto__.title',
      'variables.input.title.x',
      '',
      '__proto__.x',
    ])
      await refused(mapped({ 0: [path] }), 'invalid_input', path);
    await refused(mapped({ 1: ['variables.input.title'] }), 'invalid_input', 'unmapped');
    await refused(mapped({ 0: [] }), 'invalid_input', 'no path');
    await refused(
      mapped({ 0: Array.from({ length: 10_000 }, () => 'variables.input.title') }),
      'invalid_input',
      '10,000 paths',
    );
    await refused(mapped({ 0: ['variables.input.title'], 1: ['variables.input.title'] }), 'invalid_input', 'twice');
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [index, [`variables.${index}`]]));
    await refused(mapped(many), 'limit_exceeded', '10,000 files');
  });
});

describe('what the field accepts applies before the first byte', () => {
  const avatar = (query: string, variables: object, path: string, file: Partial<FormPart> = {}) => [
    json('operations', { query, variables }),
    json('map', { 0: [path] }),
    { field: '0', ...content, ...file },
  ];
  const byValue =
    'mutation ($id: ID!, $file: Upload) { updateUser(id: $id, input: { avatar: $file }) { user { id } } }';
  const byInput =
    'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { user { id } } }';
  const forms: readonly (readonly [string, (file?: Partial<FormPart>) => FormPart[]])[] = [
    ['a variable of its own', (file) => avatar(byValue, { id: 'x', file: null }, 'variables.file', file)],
    [
      'a variable of the input',
      (file) => avatar(byInput, { id: 'x', input: { avatar: null } }, 'variables.input.avatar', file),
    ],
  ];

  test.each(forms)('%s', async (_about, form) => {
    const before = (await uploads()).length;
    const answer = await send(form());
    expectProblem(answer, 'file_type_refused');
    expect(messageOf(answer)).toContain('allowed here are image/jpeg');
    expectProblem(await send(form({ name: 'me', type: 'video/mp4' })), 'file_type_refused');
    expect(await uploads()).toHaveLength(before);
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(5 * 1_048_576)]);
    expectProblem(await send(form({ name: 'me.png', type: 'image/png', content: png })), 'body_too_large');
  });

  test('a form that is longer than its files may be, as soon as it says which', async () => {
    const { url } = await world.listen();
    const { payload, type } = formOf(avatar(byValue, { id: 'x', file: null }, 'variables.file'));
    const before = (await uploads()).length;
    const headers = `Authorization: Bearer ${client.cookies.get('access_token')}\r\nContent-Type: ${type}\r\nContent-Length: 30000000`;
    const start = payload.subarray(0, payload.indexOf('Some notes'));
    const answer = await exchange(
      url,
      Buffer.concat([Buffer.from(`POST /graphql HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`), start]),
    );
    expect({ status: answer.status, code: JSON.parse(answer.body).errors[0].extensions.code }).toEqual({
      status: 413,
      code: 'body_too_large',
    });
    expect(await uploads()).toHaveLength(before);
  });

  test('where the operation does not say, or is invalid, it is not known yet', async () => {
    const unused = 'query ($file: Upload) { __typename }';
    const { body } = await send(avatar(unused, { file: null }, 'variables.file'));
    expect(body.errors).toHaveLength(1);
    expect((await send(avatar('mutation ($file', { file: null }, 'variables.file'))).body.errors).toHaveLength(1);
    const deep = `{ a${'(a: ['.repeat(40)}`;
    expectProblem(await send(avatar(deep, { file: null }, 'variables.file')), 'limit_exceeded');
  });
});

test('a file that is refused refuses the operation', async () => {
  const [operation, mapping] = form as [FormPart, FormPart];
  const answer = await send([operation, mapping, { field: '0', ...content, name: 'notes.png' }]);
  expectProblem(answer, 'file_type_refused');
  expect(messageOf(answer)).toContain('Its name says image/png');
  expect((await uploads()).at(-1)?.state).toBe('refused');
});
