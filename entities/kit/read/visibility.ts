import { sql } from 'kysely';
import type { Caller } from '../caller.ts';
import type { EntityModule } from '../define.ts';
import { targetOf } from '../links.ts';
import {
  afterTheRules,
  allow,
  anyone,
  decideByCaller,
  deny,
  operationAbove,
  type Condition,
  type Operation,
  type Rule,
} from '../policy.ts';
import { column } from './column.ts';
import { relatedPredicates } from './grants.ts';
import type { Sql } from './sql.ts';

/** Which rows exist for a caller: live ones of its tenancy that the rules let it see. */
export function visible(module: EntityModule, alias: string, caller: Caller): Sql {
  return sql`${live(module, alias, caller)} and ${permitted(module, alias, caller, 'view')}`;
}

/** Live rows of the caller's tenancy. */
function live(module: EntityModule, alias: string, caller: Caller): Sql {
  return sql`${column(alias, 'deletedAt')} is null and ${tenancyPredicate(module, alias, caller)}`;
}

/** First wall: the tenant filter. A caller without organization sees no tenant rows. */
function tenancyPredicate(module: EntityModule, alias: string, caller: Caller): Sql {
  if (module.tenancy !== 'organization' || module.wall) return sql`true`;
  if (caller.organizationId !== null) return sql`${column(alias, 'organizationId')} = ${caller.organizationId}`;
  return caller.kind === 'system' ? sql`true` : sql`false`;
}

/**
 * Which rows the rules let the caller do this with, as the authorization store would answer for each of them: the first rule
 * that applies decides, and after the last one the operation's default.
 */
export function permitted(module: EntityModule, alias: string, caller: Caller, operation: Operation): Sql {
  const recursion = recursionOf(module, caller, operation);
  if (!recursion) return new RuleCompiler(module, caller, operation).predicate(alias);
  return sql`${column(alias, 'id')} in (${recursion})`;
}

/** Rows to which one condition of the rules applies for this caller. */
export function applies(
  module: EntityModule,
  alias: string,
  caller: Caller,
  operation: Operation,
  condition: Condition,
): Sql {
  return new RuleCompiler(module, caller, operation).predicate(alias, [allow(condition), deny(anyone)]);
}

/** Whether a right passes from records of a kind to records of the same kind, and how; undefined when that changes nothing. */
function recursionOf(module: EntityModule, caller: Caller, operation: Operation): Sql | undefined {
  // Another operation than the one that passes down asks the record above, which is compiled then.
  if (operation !== operationAbove(operation)) return undefined;
  const fields = selfReferences(module, operation);
  if (fields.length === 0) return undefined;
  const probe = new RuleCompiler(module, caller, operation);
  // The rules may be decided before they come to what passes down.
  if (!fields.some((field) => probe.reaches(field))) return undefined;
  const base = new RuleCompiler(module, caller, operation, () => sql`false`);
  const step = new RuleCompiler(module, caller, operation, () => sql`true`);
  const reached = fields.map((field) => sql`${column('below', field)} = reached.id`);
  const table = sql.table(module.table);
  return sql`with recursive reached(id) as (
    select own.id from ${table} as own where ${live(module, 'own', caller)} and ${base.predicate('own')}
    union
    select below.id from ${table} as below join reached on (${sql.join(reached, sql` or `)})
    where ${live(module, 'below', caller)} and ${step.predicate('below')}
  ) select id from reached`;
}

function selfReferences(module: EntityModule, operation: Operation): string[] {
  return (module.policy?.[operation] ?? []).flatMap(({ when }) =>
    when.is === 'through' && targetOf(module, when.field) === module ? [when.field] : [],
  );
}

/** Compiles the rules of one operation. */
class RuleCompiler {
  readonly #module: EntityModule;
  readonly #caller: Caller;
  readonly #operation: Operation;
  readonly #ofSelf: ((alias: string, field: string) => Sql) | undefined;

  /** @param ofSelf whether a right passes down from a record of the same kind; compiled when left out */
  constructor(
    module: EntityModule,
    caller: Caller,
    operation: Operation,
    ofSelf?: (alias: string, field: string) => Sql,
  ) {
    this.#module = module;
    this.#caller = caller;
    this.#operation = operation;
    this.#ofSelf = ofSelf;
  }

  predicate(alias: string, rules: readonly Rule[] = this.#module.policy?.[this.#operation] ?? []): Sql {
    const [rule, ...rest] = rules;
    if (!rule) return afterTheRules[this.#operation] ? sql`true` : sql`false`;
    const decided = this.#byCaller(rule.when);
    if (decided === true) return rule.effect === 'allow' ? sql`true` : sql`false`;
    if (decided === false) return this.predicate(alias, rest);
    const applies = this.#condition(rule.when, alias);
    const otherwise = this.predicate(alias, rest);
    return rule.effect === 'allow' ? sql`(${applies} or ${otherwise})` : sql`(${applies} is not true and ${otherwise})`;
  }

  /** Whether the caller alone does not decide before this reference is asked. */
  reaches(field: string): boolean {
    for (const { when } of this.#module.policy?.[this.#operation] ?? []) {
      if (when.is === 'through' && when.field === field) return this.#byCaller(when) === undefined;
      if (this.#byCaller(when) === true) return false;
    }
    return false;
  }

  #byCaller(condition: Condition): boolean | undefined {
    return decideByCaller(condition, this.#caller, { kind: this.#module.kind, operation: this.#operation });
  }

  #condition(condition: Condition, alias: string): Sql {
    const { subjectId, organizationId } = this.#caller;
    switch (condition.is) {
      case 'role-in':
        return sql`${column(alias, condition.field)} = ${organizationId}`;
      case 'self':
        return sql`${column(alias, condition.field)} = ${subjectId}`;
      case 'member-of':
        return sql`exists (select 1 from memberships m where m.organization_id = ${column(alias, condition.field)}
          and m.user_id = ${subjectId} and m.deleted_at is null)`;
      case 'related': {
        const ways = relatedPredicates(this.#module, condition.relations, alias, this.#caller);
        return ways.length === 0 ? sql`false` : sql`(${sql.join(ways, sql` or `)})`;
      }
      case 'through':
        return this.#through(alias, condition.field);
      case 'anyone':
      case 'system':
      case 'signed-in':
      case 'role':
      case 'scope':
      case 'creators':
        throw new Error(`condition "${condition.is}" is decided by the caller alone`);
      default:
        condition satisfies never;
        throw new Error('unknown condition');
    }
  }

  #through(alias: string, field: string): Sql {
    const target = targetOf(this.#module, field);
    if (target === this.#module && this.#ofSelf) return this.#ofSelf(alias, field);
    const above = `${alias}_${field}`;
    return sql`exists (select 1 from ${sql.table(target.table)} as ${sql.ref(above)}
      where ${column(above, 'id')} = ${column(alias, field)} and ${live(target, above, this.#caller)}
      and ${permitted(target, above, this.#caller, operationAbove(this.#operation))})`;
  }
}
