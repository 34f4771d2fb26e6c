import { afterAll, beforeAll, expect, test } from 'vitest';
import { registry, task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { AuthorizationFixtures } from '../kit/records/authorization-fixtures.ts';
import type { TestClient } from '../kit/test-client.ts';
import { triedKinds } from '../kit/tried-kinds.ts';
import { openWorld, type World } from '../kit/world.ts';

/** T-60: a deleted record is nowhere: not in look-ups, lists, filters, edges or counts, and its unique values are free. */
let world: World;
let person: Person;
let client: TestClient;
let fixtures: AuthorizationFixtures;
beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  client = await signedIn(world, person);
  fixtures = new AuthorizationFixtures(world, person);
});
afterAll(() => world.close());

const deletable = triedKinds(registry.modules).filter(
  ({ kind, mutate }) => mutate?.includes('delete') && kind !== 'organization',
);

/** Records that no role may view belong to their person. */
function situationOf({ policy, grants = [] }: EntityModule): string {
  const isForRoles = policy?.view?.some(({ effect, when }) => effect === 'allow' && when.is === 'role') ?? true;
  const relation = grants.find(({ subject }) => subject.kind === 'user')?.relation;
  return isForRoles || typeof relation !== 'string' ? 'any' : relation;
}

test.each(deletable.map((module) => [module.kind, module] as const))(
  'T-60: a deleted %s is in no look-up, list, filter, edge or count',
  async (kind, module) => {
    const { id } = await fixtures.record(kind, situationOf(module), person.user.id);
    const plural = module.table.replaceAll(/_(.)/g, (_all, letter: string) => letter.toUpperCase());
    const path = `/v1/${module.table.replaceAll('_', '-')}`;
    const seen = async () => {
      const { data } = await client.graphql(
        `query ($id: ID!${module.search?.length ? ', $word: String!' : ''}) {
        all: ${plural}(first: 100) { totalCount edges { node { id } } }
        one: ${plural}(where: { id: { eq: $id } }) { totalCount edges { node { id } } }
        other: ${plural}(where: { not: { id: { ne: $id } } }) { totalCount }
        many: nodes(ids: [$id]) { id }
        ${module.search?.length ? `found: ${kind}Search(query: $word) { totalCount }` : ''}
      }`,
        { id, ...(module.search?.length ? { word: id } : {}) },
      );
      const rest = await client.get(`${path}?count=true&first=100`);
      return {
        inList: JSON.stringify(data.all).includes(id),
        byFilter: data.one.totalCount,
        byNegation: data.other.totalCount,
        byId: data.many.filter((one: unknown) => one !== null).length,
        bySearch: data.found?.totalCount ?? 0,
        inRest: JSON.stringify(rest.body).includes(id),
        total: data.all.totalCount === rest.body.total_count ? data.all.totalCount : 'different',
        status: (await client.get(`${path}/${id}`)).status,
      };
    };
    const before = await seen();
    expect(before).toMatchObject({ inList: true, byFilter: 1, byNegation: 1, byId: 1, inRest: true, status: 200 });
    if (module.search?.length) expect(before.bySearch).toBe(1);
    expect((await client.mutate({ method: 'DELETE', url: `${path}/${id}` })).status).toBe(204);
    expect(await seen()).toEqual({
      inList: false,
      byFilter: 0,
      byNegation: 0,
      byId: 0,
      bySearch: 0,
      inRest: false,
      total: before.total - 1,
      status: 404,
    });
    // Neither parameters nor a second deletion reach it.
    for (const query of ['deleted=true', 'deleted_at=', 'with_deleted=1'])
      expect((await client.get(`${path}?${query}`)).status).toBe(400);
    expect((await client.mutate({ method: 'DELETE', url: `${path}/${id}` })).status).toBe(404);
    expect((await client.mutate({ method: 'PATCH', url: `${path}/${id}`, payload: {} })).status).not.toBe(200);
    const [row] = await asOwner<{ isKept: boolean }>(
      world,
      `select deleted_at is not null as "isKept" from ${module.table} where id = $1`,
      [id],
    );
    expect(row).toEqual({ isKept: true });
  },
);

test('T-60: children of a deleted record do not show it, and its unique values can be used again', async () => {
  const { id } = await fixtures.record('task', 'any');
  const below = await fixtures.asSystem((data) => data.create(task, { title: 'below', parentId: id }));
  const note = (await client.post('/v1/notes', { text: 'about it', task_id: id })).body.id as string;
  await client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });
  for (const path of [`/v1/tasks/${below.id}`, `/v1/notes/${note}`]) expect((await client.get(path)).status).toBe(404);
  const created = await client.post('/v1/notes', { text: 'about nothing', task_id: id });
  expect([created.status, created.body.code]).toEqual([404, 'not_found']);

  const name = newId();
  const first = (await client.post('/v1/tags', { name })).body.id as string;
  expect((await client.post('/v1/tags', { name })).body.code).toBe('already_exists');
  await client.mutate({ method: 'DELETE', url: `/v1/tags/${first}` });
  expect((await client.post('/v1/tags', { name })).status).toBe(201);
});
