import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { Viewer } from '#entities/kit/read/viewer.ts';
import { callerOf, type Caller } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { hasObjectRights } from '#entities/kit/model/policy.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { compileRecord } from '#entities/kit/read/answer-statements.ts';
import { compileSql } from '#entities/kit/storage/sql.ts';
import { visible, visibleInList } from '#entities/kit/read/visibility.ts';
import { fillTables, idOfRow, largeOrganization } from '../kit/records/bulk-fixtures.ts';
import { sampleOf } from '../kit/depth.ts';
import { planOf, rowsRead } from '../kit/records/query-plan.ts';
import { recordTried } from '../kit/tried.ts';
import { triedKinds } from '../kit/tried-kinds.ts';
import { openWorld, type World } from '../kit/world.ts';

const kinds = triedKinds(registry.modules).filter(({ policy }) => hasObjectRights(policy));
/** Every kind of subject that grants know, with and without groups. */
const allCallers: readonly Caller[] = (['owner', 'admin', 'member', 'auditor'] as const).flatMap((role) =>
  [[], [4, 6], [8, 10, 12, 998]].flatMap((groups) =>
    [8, 108, 998].map((person) =>
      callerOf({
        kind: 'user',
        subjectId: idOfRow(person),
        organizationId: largeOrganization,
        role,
        groupIds: groups.map(idOfRow),
        productModules,
      }),
    ),
  ),
);

const callers = sampleOf('lists by rights', allCallers, {
  by: [
    ({ role, groupIds }) => `${role} ${groupIds.length}`,
    ({ role, subjectId }) => `${role} ${subjectId}`,
    ({ groupIds, subjectId }) => `${groupIds.length} ${subjectId}`,
  ],
});
/** Sees few records, so a plan that reads more than it needs is noticed. */
const groupMember = allCallers.find(({ role, groupIds }) => role === 'member' && groupIds.length === 2) as Caller;

/** The tried kinds, what they refer to, and what grants rights on these: all that decides about their records. */
function deciding(): readonly EntityModule[] {
  const names = new Set(kinds.map(({ kind }) => kind));
  for (let before = 0; before < names.size;) {
    before = names.size;
    for (const { kind, fields, grants = [] } of registry.modules) {
      if (grants.some(({ object }) => names.has(object.kind))) names.add(kind);
      if (names.has(kind)) for (const { target } of Object.values(fields)) if (target !== undefined) names.add(target);
    }
  }
  return registry.modules.filter(({ kind, tenancy }) => names.has(kind) && tenancy === 'organization');
}

let world: World;
beforeAll(async () => {
  // The rows are nobody's: no history, no tuples, no parents.
  world = await openWorld({ skipVerify: true });
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  await fillTables(client, deciding(), 4_000);
  await client.end();
});
afterAll(() => world.close());

test.each(kinds.map((module) => [module.kind, module] as const))(
  'a list of %s holds exactly the records that could be looked up one by one',
  async (_kind, module) => {
    let seen = 0;
    const table = sql.table(module.table);
    for (const caller of callers) {
      const viewer = Viewer.of(registry, caller);
      const { text, values } = compileSql(sql`select
          (select count(*)::int from ${table} as r where ${visible(module, 'r', viewer)}) as seen,
          (select count(*)::int from ((select id from ${table} as r where ${visible(module, 'r', viewer)})
            except (select id from ${table} as l where ${visibleInList(module, 'l', viewer)})) as missing) as missing,
          (select count(*)::int from ((select id from ${table} as l where ${visibleInList(module, 'l', viewer)})
            except (select id from ${table} as r where ${visible(module, 'r', viewer)})) as strange) as strange`);
      const found = await world.runtime.database.transact({ caller, requestId: newId() }, async (unit) => {
        const session = await unit.readAs('app');
        return (await session.query<{ seen: number; missing: number; strange: number }>(text, values)).rows[0];
      });
      expect({ caller, ...found }).toMatchObject({ missing: 0, strange: 0 });
      seen += found?.seen ?? 0;
    }
    recordTried('callers of a kind', callers.length, allCallers.length);
    // Otherwise this would compare nothing with nothing.
    expect(seen).toBeGreaterThan(callers.length);
  },
);

test.each(kinds.map((module) => [module.kind, module] as const))(
  'looking up one of %s costs what lies above it, by whichever plan',
  async (_kind, module) => {
    for (const kept of [false, true])
      for (const id of [8, 1_204, 3_998].map(idOfRow)) {
        const statement = compileRecord(
          { module, parts: [{ is: 'value', as: 'id', field: 'id' }] },
          id,
          groupMember,
          world.runtime.database.plans,
        );
        const plan = await planOf(world.runtime.database, groupMember, statement, { analyze: true, kept });
        // Of 2,000 rows that the organization has of each kind.
        expect({ id, kept, rows: rowsRead(plan) }).toSatisfy(({ rows }) => rows < 50);
      }
  },
);
