import { sql } from 'kysely';
import { checkRequestFor } from '#entities/kit/access/check-request.ts';
import { Viewer } from '#entities/kit/read/viewer.ts';
import { readAuthorizationState } from '#entities/kit/access/authorization-state.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { isWithinLimits } from '#entities/kit/model/scopes.ts';
import { column } from '#entities/kit/storage/column.ts';
import { compileSql } from '#entities/kit/storage/sql.ts';
import { permitted } from '#entities/kit/read/visibility.ts';
import { transactAs } from '../as-person.ts';
import { callerNow } from '../caller-now.ts';
import type { Person } from '../people.ts';
import type { World } from '../world.ts';

const operations = ['view', 'edit', 'remove'] as const;

/**
 * Rights of a person on a record by WHERE clauses and by the authorization store: `rows` and `store` hold the operations that each
 * of them allows.
 */
export async function bothEvaluators(
  world: Pick<World, 'runtime'>,
  person: Person,
  { module, id }: { readonly module: EntityModule; readonly id: string },
): Promise<{ rows: string[]; store: string[] }> {
  return evaluatorsFor(world, await callerNow(world.runtime, person.user.id, person.organization.id), { module, id });
}

/** The same for any caller. The store knows no limits of tokens, so they are taken off what it allows. */
export async function evaluatorsFor(
  world: Pick<World, 'runtime'>,
  caller: Caller,
  { module, id }: { readonly module: EntityModule; readonly id: string },
): Promise<{ rows: string[]; store: string[] }> {
  const { store } = world.runtime;
  return transactAs(world.runtime, caller, async (unit) => {
    const session = await unit.readAs('system');
    const names = ['id', 'parentId', 'taskId', 'groupId', 'fileId'].filter(
      (name) => name === 'id' || Object.hasOwn(module.fields, name),
    );
    const columns = sql.join(names.map((name) => sql`${column('r', name)} as ${sql.id(name)}`));
    const found: { rows: string[]; store: string[] } = { rows: [], store: [] };
    const { organizations } = await readAuthorizationState(session, caller.organizationId ?? '');
    for (const operation of operations) {
      const { text, values } =
        compileSql(sql`select ${columns}, ${permitted(module, 'r', Viewer.of(unit.registry, caller), operation)} as allowed
        from ${sql.table(module.table)} as r where ${column('r', 'id')} = ${id}`);
      const [row] = (await session.query<Record<string, unknown>>(text, values)).rows;
      if (!row) throw new Error(`there is no ${module.kind} ${id}`);
      if (row['allowed'] === true) found.rows.push(operation);
      // Where the rules let only the server, the model has no relation: nobody has the right.
      const isOffered = module.policy?.[operation].some(
        ({ effect, when }) => effect === 'allow' && when.is !== 'system',
      );
      if (!isOffered) continue;
      const isLimited = !isWithinLimits(caller, { kind: module.kind, operation });
      const question = await checkRequestFor(session, unit.registry, { module, row, operation }, caller, organizations);
      if ((await store?.check(question)) && !isLimited) found.store.push(operation);
    }
    return found;
  });
}
