import { sql } from 'kysely';
import type { Caller } from '../caller.ts';
import { snakeCase, type EntityModule } from '../define.ts';
import { decideByCaller, type Condition, type Rule } from '../policy.ts';
import type { Sql } from './sql.ts';

/** A column of a row that a statement calls by an alias. */
export function column(alias: string, field: string): Sql {
  return sql`${sql.ref(`${alias}.${snakeCase(field)}`)}`;
}

/** Which rows exist for a caller: live ones of its tenancy that the rules let it see. */
export function visible(module: EntityModule, alias: string, caller: Caller): Sql {
  const conditions = [
    sql`${column(alias, 'deletedAt')} is null`,
    tenancyPredicate(module, alias, caller),
    rulePredicate(module.policy?.view ?? [], alias, caller),
  ];
  return sql.join(conditions, sql` and `);
}

/** First wall: the tenant filter. A caller without organization sees no tenant rows. */
function tenancyPredicate(module: EntityModule, alias: string, caller: Caller): Sql {
  if (module.tenancy !== 'organization' || module.wall) return sql`true`;
  if (caller.organizationId !== null) return sql`${column(alias, 'organizationId')} = ${caller.organizationId}`;
  return caller.kind === 'system' ? sql`true` : sql`false`;
}

/** First rule that applies decides; after the last one queries are allowed. */
function rulePredicate(rules: readonly Rule[], alias: string, caller: Caller): Sql {
  const [rule, ...rest] = rules;
  if (!rule) return sql`true`;
  const decided = decideByCaller(rule.when, caller);
  if (decided === true) return rule.effect === 'allow' ? sql`true` : sql`false`;
  if (decided === false) return rulePredicate(rest, alias, caller);
  const applies = conditionPredicate(rule.when, alias, caller);
  const otherwise = rulePredicate(rest, alias, caller);
  return rule.effect === 'allow' ? sql`(${applies} or ${otherwise})` : sql`(not ${applies} and ${otherwise})`;
}

function conditionPredicate(condition: Condition, alias: string, caller: Caller): Sql {
  switch (condition.is) {
    case 'role-in':
      return sql`${column(alias, condition.field)} = ${caller.organizationId}`;
    case 'self':
      return sql`${column(alias, condition.field)} = ${caller.subjectId}`;
    case 'member-of':
      return sql`exists (select 1 from memberships m where m.organization_id = ${column(alias, condition.field)}
        and m.user_id = ${caller.subjectId} and m.deleted_at is null)`;
    case 'anyone':
    case 'system':
    case 'signed-in':
    case 'role':
      throw new Error(`condition "${condition.is}" is decided by the caller alone`);
    default:
      condition satisfies never;
      throw new Error('unknown condition');
  }
}
