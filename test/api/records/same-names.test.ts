import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_ORMCONFIG_ENTITYTYPES: 'Vendor,VENDOR ,Kunde' } });
  client = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

const more: Readonly<Record<string, object>> = {
  '/v1/custom-enum-values': { object_type: 'task', field: 'type' },
  '/v1/saved-views': { record_kind: 'task' },
  '/v1/secrets': { credential_type: 'api_key', value: 'secret' },
  '/v1/integrations': {},
};

const named = (url: string, name: string) => client.post(url, { ...more[url], name });
const renamed = (url: string, id: string, name: string) =>
  client.mutate({ method: 'PATCH', url: `${url}/${id}`, payload: { name } });

test.each(['/v1/groups', '/v1/tags', '/v1/entity-types', '/v1/custom-enum-values', '/v1/saved-views'])(
  'at %s names that look the same are one, and are stored as they were written',
  async (url) => {
    const first = await named(url, ' Größe  ⚠️ ');
    expect(first).toMatchObject({ status: 201, body: { name: ' Größe  ⚠️ ' } });
    for (const twin of ['größe ⚠️', 'GRÖSSE ⚠', 'Gro\u0308ße\u00a0⚠️']) {
      const answer = await named(url, twin);
      expectProblem(answer, 'already_exists', twin);
      expect(answer.body.errors).toMatchObject([{ path: '/name' }]);
    }
    const other = await named(url, 'Grosze ⚠');
    expect(other.status).toBe(201);
    if (url !== '/v1/tags') {
      expectProblem(await renamed(url, other.body.id, 'GRÖSSE ⚠️'), 'already_exists');
      expect((await renamed(url, first.body.id, 'GRÖSSE ⚠')).body.name).toBe('GRÖSSE ⚠');
    }
  },
);

test.each(['/v1/groups', '/v1/tags', '/v1/entity-types', '/v1/custom-enum-values', '/v1/saved-views'])(
  'at %s a name without a visible character, or in two lines, is refused',
  async (url) => {
    for (const name of [
      '  ',
      '\u200b\u200b\u200b',
      '\ufe0f\ufe0f\ufe0f',
      '\u3164\u115f\u2800',
      'a\nb',
      'a\u2028b',
      'a\u0085b',
      'a\vb',
      'a\fb',
    ]) {
      const answer = await named(url, name);
      expectProblem(answer, 'invalid_input', JSON.stringify(name));
      expect(answer.body.errors).toMatchObject([{ path: '/name' }]);
    }
  },
);

test('two names of one request that look the same are told apart from those that are taken', async () => {
  const mutation = `mutation ($inputs: [CreateTagInput!]!) { createBulkTag(inputs: $inputs) { tags { id } } }`;
  const answer = await client.graphql(mutation, { inputs: [{ name: 'Żółty' }, { name: 'Blau' }, { name: 'ŻÓŁTY ' }] });
  expectGraphqlError(answer, 'already_exists');
  expect(answer.errors[0].extensions.errors).toMatchObject([{ path: '/2/name' }]);
});

test('a cell names a record by what looks the same', async () => {
  await client.post('/v1/custom-enum-values', { object_type: 'global', field: 'environment', name: 'Żółw  Ninja' });
  const csv = 'title,environmentName\na, ŻÓŁW ninja \n';
  const mutation = `mutation ($csv: String!) { createBulkCSVTask(csv: $csv) { tasks { environment { name } } } }`;
  const { data, errors } = await client.graphql(mutation, { csv });
  expect(errors).toBeUndefined();
  expect(data.createBulkCSVTask.tasks).toEqual([{ environment: { name: 'Żółw  Ninja' } }]);
});

test('of names in the configuration that look the same, the first is that of a new organization', async () => {
  await client.graphql(`mutation { createOrganization(input: { name: "With types" }) { organization { id } } }`);
  const types = await asOwner(
    world,
    `select t.name from entity_types t join organizations o on o.id = t.organization_id where o.name = 'With types' order by 1`,
  );
  expect(types).toEqual([{ name: 'Kunde' }, { name: 'Vendor' }]);
});
