import { afterAll, beforeAll, expect, test } from 'vitest';
import { organization, registry, task } from '#entities/index.ts';
import { actorOf, anonymousCaller, callerOf, personIn, systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { WorkContext } from '#entities/kit/model/work-context.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let person: Person;
beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
});
afterAll(() => world.close());

function unitOf(): UnitOfWork {
  const caller = callerOf({
    kind: 'user',
    subjectId: person.user.id,
    organizationId: person.organization.id,
    role: 'owner',
  });
  return world.runtime.database.unitOfWork({ caller, requestId: newId() });
}

test('a unit of work without a caller is refused', () => {
  const lost = { requestId: newId() } as WorkContext;
  expect(() => world.runtime.database.unitOfWork(lost)).toThrow('work without a caller is refused');
  const nobody = { caller: undefined, requestId: newId() } as unknown as WorkContext;
  expect(() => world.runtime.database.unitOfWork(nobody)).toThrow('work without a caller is refused');
});

test('an anonymous caller sees no record of any organization', async () => {
  const context = { caller: anonymousCaller, requestId: newId() };
  await world.runtime.database.transact(context, async ({ data }) => {
    for (const module of registry.modules) expect(await data.find(module, { limit: 100 })).toEqual([]);
  });
});

test('a read of several rows needs a limit, to the compiler and at run time', async () => {
  const { data } = unitOf();
  // @ts-expect-error -- without a limit
  await expect(data.find(task, { where: {} })).rejects.toThrow('find of task records needs a limit');
  // @ts-expect-error -- without a query
  await expect(data.find(task)).rejects.toThrow('find of task records needs a limit');
});

test('system work needs a reason, and an empty organization id is refused', () => {
  // @ts-expect-error -- there is no default: whoever acts for the server says why
  expect(systemCaller().reason).toBeUndefined();
  expect(() => systemCaller('test', '')).toThrow('is not an organization id');
  expect(() => systemCaller('test', 'undefined')).toThrow('is not an organization id');
});

test.each(['commit', 'rollback'] as const)('after the %s the data client refuses further work', async (end) => {
  const unit = unitOf();
  const { data } = unit;
  const made = await data.create(task, { title: `before the ${end}` });
  await unit.flush();
  await unit[end]();
  const late = 'its work should have ended before';
  await expect(data.find(organization, { limit: 100 })).rejects.toThrow(late);
  await expect(data.create(task, { title: 'too late' })).rejects.toThrow(late);
  await expect(data.update(task, made.id, { title: 'too late' })).rejects.toThrow(late);
  await expect(data.removeAll(task, [made.id])).rejects.toThrow(late);
  await expect(data.privileged('test').create(organization, { name: `late ${newId()}` })).rejects.toThrow(late);
  await expect(data.as(anonymousCaller).find(organization, { limit: 100 })).rejects.toThrow(late);
  await expect(unit.commit()).rejects.toThrow(late);
  expect(await asOwner(world, `select title from tasks where title = 'too late' or deleted_at is not null`)).toEqual(
    [],
  );
});

test('an actor names the person, also while somebody else acts as them, and no other caller', () => {
  const [subjectId, actorId] = [newId(), newId()];
  const delegation = { id: newId(), type: 'impersonation', actorId, actorName: 'x', expiresAt: '' } as const;
  expect(personIn(actorOf(callerOf({ kind: 'user', subjectId })))).toEqual([subjectId]);
  expect(personIn(actorOf(callerOf({ kind: 'user', subjectId, delegation })))).toEqual([subjectId]);
  for (const caller of [anonymousCaller, systemCaller('user:x'), callerOf({ kind: 'api_token', subjectId })])
    expect(personIn(actorOf(caller)), caller.kind).toEqual([]);
});
