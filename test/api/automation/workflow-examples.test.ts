import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflowExamplesBackfill } from '#activities/backfills/workflow-examples.backfill.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { workflowExamples } from '#entities/presets/workflow-examples.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
});
afterAll(() => world.close());

const draftsOf = (person: Person) =>
  asOwner<{ name: string; status: string }>(
    world,
    `select name, status from workflow_definitions where organization_id = $1 and deleted_at is null order by id`,
    [person.organization.id],
  );
const all = workflowExamples.map(({ name }) => ({ name, status: 'draft' }));

test('a new organization has the examples as drafts, which can be published as they are', async () => {
  const person = await buildPerson(world);
  expect(await draftsOf(person)).toEqual(expect.arrayContaining(all));
  const client = await signedIn(world, person);
  const { body } = await client.get('/v1/workflow-definitions');
  for (const { id } of body.data) {
    const published = await client.post(`/v1/workflow-definitions/${id}/publish`, {});
    expect(published.status, JSON.stringify(published.body)).toBe(200);
  }
});

test('while workflows are off, new organizations have none, and the backfill gives them to those without definitions', async () => {
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'false' });
  const [older, careful] = [await buildPerson(world), await buildPerson(world)];
  expect(await draftsOf(older)).toEqual([]);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
  const client = await signedIn(world, careful);
  const [{ name, recordKind, document }] = workflowExamples;
  const own = await client.post('/v1/workflow-definitions', { name, record_kind: recordKind, document });
  await client.mutate({ method: 'DELETE', url: `/v1/workflow-definitions/${own.body.id}` });

  const ids = [older.organization.id, careful.organization.id];
  const apply = () =>
    world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
      workflowExamplesBackfill.apply(unit, ids),
    );
  expect(await apply()).toBe(3);
  expect(await apply()).toBe(0);
  expect(await draftsOf(older)).toEqual(expect.arrayContaining(all));
  expect(await draftsOf(careful)).toEqual([]);
});
