import { afterAll, beforeAll, expect, test } from 'vitest';
import { mistakes, type DescribedApi, type DescribedSchema } from '../../kit/http/described-api.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let document: DescribedApi;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
  client = await signedIn(world, await buildPerson(world));
  document = (await client.get('/openapi.json')).body;
});
afterAll(() => world.close());

const refusals = new Set(['invalid_input', 'malformed_body']);
const unknownId = '01KG9ZV4X3M8Q2T7R5W1Y6B0CD';
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** Bodies that differ in one value, with the schema that describes them. */
const bodies: readonly (readonly [what: string, url: string, schema: string, accepted: object, refused: object])[] = [
  [
    'fields that the server sets',
    '/v1/tasks',
    'CreateTaskInput',
    { title: 'A' },
    { title: 'A', created_at: Number.MAX_VALUE },
  ],
  ['JSON without NUL', '/v1/tasks', 'CreateTaskInput', { title: 'A', metadata: 'a' }, { title: 'A', metadata: '\0' }],
  [
    'names in JSON without NUL',
    '/v1/tasks',
    'CreateTaskInput',
    { title: 'A', metadata: { a: 1 } },
    { title: 'A', metadata: { '\0': 1 } },
  ],
  [
    'whole numbers that are exact',
    '/v1/tasks',
    'CreateTaskInput',
    { title: 'A', metadata: Number.MAX_SAFE_INTEGER },
    { title: 'A', metadata: 2 ** 53 },
  ],
  ['the kind of an export', '/v1/exports', 'CreateExportInput', { record_kind: 'task' }, { record_kind: 'planet' }],
  [
    'domains of a company',
    '/v1/onboardings',
    'CreateOnboardingInput',
    { company_name: 'Company', domains: ['bücher.example'] },
    { company_name: 'Company', domains: ['no domain'] },
  ],
  [
    'one password of two',
    '/v1/verify',
    'VerifyEmailInput',
    { token: 'a', password: 'long enough for all' },
    { token: 'a', password: 'long enough for all', new_password: 'another one for all' },
  ],
  [
    'the day of a deletion',
    `/v1/organizations/${unknownId}/announce-deletion`,
    'AnnounceOrganizationDeletionInput',
    { not_before: inDays(2) },
    { not_before: 'in two days' },
  ],
  [
    'the document of a workflow',
    '/v1/workflow-definitions',
    'CreateWorkflowDefinitionInput',
    { name: 'A', record_kind: 'task', document: {} },
    { name: 'A', record_kind: 'task', document: null },
  ],
  [
    'a document to check',
    '/v1/workflow-definitions/validate',
    'ValidateWorkflowDefinitionInput',
    { record_kind: 'task', document: [] },
    { record_kind: 'task', document: 2 ** 53 },
  ],
];

test.each(bodies)(
  '%s: the description and the server accept and refuse the same',
  async (_what, url, name, ...given) => {
    const schema = document.components.schemas[name] ?? {};
    const described = given.map((body) => mistakes(document, schema, body).length === 0);
    const answers = await Promise.all(given.map((body) => client.post(url, body)));
    const codes = answers.map(({ body }) => body.code as string | undefined);
    expect(described).toEqual([true, false]);
    expect(
      codes.map((code) => !refusals.has(code ?? '')),
      JSON.stringify(codes),
    ).toEqual([true, false]);
  },
);

test('The moment of a status is described in changes, too, as far as the body says it', async () => {
  const { body: task } = await client.post('/v1/tasks', { title: 'A' });
  const schema = document.components.schemas['UpdateTaskInput'] ?? {};
  const completedAt = { completed_at: inDays(-1) };
  const given = [{ ...completedAt, status: 'completed' }, { ...completedAt, status: 'open' }, completedAt];
  expect(given.map((body) => mistakes(document, schema, body).length)).toEqual([0, expect.any(Number), 0]);
  expect(mistakes(document, schema, given[1])).not.toEqual([]);
  const refused = await client.mutate({ method: 'PATCH', url: `/v1/tasks/${task.id}`, payload: given[1] });
  expect(refused.body.code).toBe('invalid_input');
});

test.each([
  ['an address in one line', '/.well-known/webfinger?resource=', 'acct:a@b', 'acct:a@\r'],
  ['a part of a text', '/v1/tasks?title[contains]=', 'a', '\u0301'],
  ['a part of an id', '/v1/emails?about_id[ends_with]=', 'A', '\u0301'],
])('%s: the description of the query and the server accept and refuse the same', async (_what, url, ...given) => {
  const [path = '', name = ''] = url.slice(0, -1).split('?');
  const { parameters = [] } = document.paths[path]?.['get'] ?? {};
  const references = parameters as readonly { readonly $ref?: string; readonly name: string }[];
  const found = references
    .map((each) => document.components.parameters[each.$ref?.split('/').at(-1) ?? ''] ?? each)
    .find((each) => each.name === name) as { readonly schema: DescribedSchema };
  const described = given.map((text) => mistakes(document, found.schema, text).length === 0);
  const answers = await Promise.all(given.map((text) => client.get(url + encodeURIComponent(text))));
  expect(described).toEqual([true, false]);
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
});
