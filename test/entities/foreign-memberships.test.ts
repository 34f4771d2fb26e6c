import { afterAll, beforeAll, expect, test } from 'vitest';
import { membership } from '#entities/index.ts';
import { callerOf, systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { reachable } from '#entities/kit/model/behaviours/reachable.ts';
import { defineEntityModule } from '#entities/kit/model/define.ts';
import { text } from '#entities/kit/model/fields.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { allow, role } from '#entities/kit/model/policy.ts';
import type { WorkContext } from '#entities/kit/model/work-context.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
let attacker: Person;
let joined: string;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  attacker = await buildPerson(world);
  joined = await world.runtime.database.transact(
    { caller: systemCaller('test'), requestId: newId() },
    async ({ data }) => {
      const row = await data.create(membership, {
        organizationId: owner.organization.id,
        userId: attacker.user.id,
        role: 'member',
      });
      return row.id;
    },
  );
});
afterAll(() => world.close());

/** Owner of their own organization, in which they act. */
const context = (): WorkContext => ({
  caller: callerOf({
    kind: 'user',
    subjectId: attacker.user.id,
    organizationId: attacker.organization.id,
    role: 'owner',
  }),
  requestId: newId(),
});

const asAttacker = <T>(work: (data: DataClient) => Promise<T>): Promise<T> =>
  world.runtime.database.transact(context(), ({ data }) => work(data));

test('an owner of one organization cannot change members of another', async () => {
  const stranger = await buildPerson(world);
  const denied = { code: 'permission_denied' };
  const organizationId = owner.organization.id;
  await expect(
    asAttacker((data) => data.create(membership, { organizationId, userId: stranger.user.id, role: 'owner' })),
  ).rejects.toMatchObject(denied);
  await expect(asAttacker((data) => data.update(membership, joined, { role: 'owner' }))).rejects.toMatchObject(denied);
  expect(await asOwner(world, 'select role from memberships where id = $1', [joined])).toEqual([{ role: 'member' }]);
});

test('row-level security refuses it as well', async () => {
  const unit = world.runtime.database.unitOfWork(context());
  const session = await unit.readAs('app');
  await expect(session.query(`update memberships set role = 'owner' where id = $1`, [joined])).rejects.toThrow();
  await unit.rollback();
});

test('a kind with rlsUsing must name the organization in which a role counts', () => {
  const define = () =>
    defineEntityModule({
      kind: 'leak',
      table: 'leaks',
      description: 'A kind whose rules forget where a role is held.',
      fields: { name: text('Name.', { max: 10, exposed: 'read-write' }) },
      tenancy: 'organization',
      behaviours: [reachable({ rlsUsing: 'true' })],
      policy: { view: [], create: [allow(role('owner'))], edit: [], remove: [] },
      events: [],
    });
  expect(define).toThrow(
    '"leak": it declares rlsUsing, so its rules for changes must name the organization in which a role counts',
  );
});
