import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import {
  afterTheRules,
  allow,
  anyone,
  deny,
  operationAbove,
  type Condition,
  type Operation,
  type Rule,
} from '../model/policy.ts';
import { column } from '../storage/column.ts';
import { isOpenToMembers, relatedPredicates, type Lookup } from './grants.ts';
import { scopePredicate } from './scope.ts';
import type { Viewer } from './viewer.ts';
import type { Sql } from '../storage/sql.ts';

/**
 * Which rows exist for a caller: live ones of its tenancy that the rules let it see. For a row that is found by something
 * else, such as its id.
 */
export function visible(module: EntityModule, alias: string, viewer: Viewer): Sql {
  return sql`${scopePredicate(module, alias, viewer)} and ${permitted(module, alias, viewer, 'view')}`;
}

/**
 * The same for lists. Where rights are given record by record, the rows are found by the rights: a list costs what the caller
 * may see, not what the organization has (docs/decisions/indexes-below-row-level-security.md).
 */
export function visibleInList(module: EntityModule, alias: string, viewer: Viewer): Sql {
  return sql`${scopePredicate(module, alias, viewer)} and ${new RuleCompiler(module, viewer, 'view').listPredicate(alias)}`;
}

/**
 * Which rows the rules let the caller do this with, as the authorization store would answer for each of them: the first rule
 * that applies decides, and after the last one the operation's default.
 */
export function permitted(module: EntityModule, alias: string, viewer: Viewer, operation: Operation): Sql {
  return new RuleCompiler(module, viewer, operation).predicate(alias);
}

/** Rows to which one condition of the rules applies for this caller. */
export function applies(
  module: EntityModule,
  alias: string,
  viewer: Viewer,
  operation: Operation,
  condition: Condition,
): Sql {
  return new RuleCompiler(module, viewer, operation).applies(alias, condition);
}

/** What the record above says when it is one of the same kind: it is asked, or it is taken to refuse, or to allow by one reference. */
type FromSelf = 'asked' | 'refuses' | { readonly allowsBy: string };

/** A rule that allows, with those before it that refuse. */
interface GrantPath {
  readonly when: Condition;
  readonly unless: readonly Condition[];
}

/** Compiles the rules of one operation. */
class RuleCompiler {
  readonly #module: EntityModule;
  readonly #viewer: Viewer;
  readonly #operation: Operation;
  readonly #rules: readonly Rule[];
  /** References by which the right passes from records of the kind to records of the same kind. */
  readonly #selfReferences: readonly string[];
  readonly #above = new Map<string, Sql | undefined>();

  constructor(module: EntityModule, viewer: Viewer, operation: Operation) {
    this.#module = module;
    this.#viewer = viewer;
    this.#operation = operation;
    this.#rules = module.policy?.[operation] ?? [];
    // Another operation than the one that passes down asks the record above, which is compiled then.
    const isPassedDown = operation === operationAbove(operation);
    this.#selfReferences = isPassedDown ? this.#reachedSelfReferences() : [];
  }

  /** For a row that is there already: its own rights are looked up, and those of the records above it. */
  predicate(alias: string): Sql {
    if (this.#selfReferences.length === 0) return this.#predicate(alias, 'asked');
    const table = sql.table(this.#module.table);
    const steps = this.#selfReferences.map(
      (field) => sql`select up.id from ${table} as below join ${table} as up on up.id = ${column('below', field)}
        where below.id = climbed.id and ${scopePredicate(this.#module, 'up', this.#viewer)} and ${this.#predicate('below', { allowsBy: field })}`,
    );
    return sql`exists (with recursive climbed(id) as (
        select ${column(alias, 'id')}
        union
        select above.id from climbed cross join lateral (${oneAtATime(sql.join(steps, sql` union all `))}) as above
      ) select 1 from climbed cross join lateral (${oneAtATime(
        sql`select 1 from ${table} as held where held.id = climbed.id and ${this.#predicate('held', 'refuses')}`,
      )}) as held)`;
  }

  applies(alias: string, condition: Condition): Sql {
    return this.#predicate(alias, 'asked', [allow(condition), deny(anyone)]);
  }

  /** For the rows of a list: what the caller has rights on is looked up first, where that is less than everything. */
  listPredicate(alias: string): Sql {
    const grantPaths = this.#grantPaths();
    if (!grantPaths) return this.predicate(alias);
    const [only, ...others] = this.#directly(grantPaths, alias);
    if (only && others.length === 0 && this.#selfReferences.length === 0) return only;
    return sql`${column(alias, 'id')} = any(array(${this.#ids(grantPaths)}))`;
  }

  /** Statement that selects the ids of all live rows to which one of the grantPaths leads. */
  #ids(grantPaths: readonly GrantPath[]): Sql {
    const table = sql.table(this.#module.table);
    const direct = this.#directly(grantPaths, 'own').map(
      (applies) =>
        sql`select own.id from ${table} as own where ${scopePredicate(this.#module, 'own', this.#viewer)} and ${applies}`,
    );
    if (direct.length === 0) return sql`select null::text where false`;
    const base = sql.join(direct, sql` union `);
    if (this.#selfReferences.length === 0) return base;
    const steps = this.#selfReferences.map(
      (field) => sql`select below.id from ${table} as below where ${column('below', field)} = reached.id
        and ${scopePredicate(this.#module, 'below', this.#viewer)} and ${this.#predicate('below', { allowsBy: field })}`,
    );
    return sql`with recursive reached(id) as (
      (${base})
      union
      select passed.id from reached cross join lateral (${oneAtATime(sql.join(steps, sql` union all `))}) as passed
    ) select id from reached`;
  }

  /** The grantPaths to be permitted; undefined when there is more than can be found by rights. */
  #grantPaths(): readonly GrantPath[] | undefined {
    const grantPaths: GrantPath[] = [];
    const unless: Condition[] = [];
    for (const { effect, when } of this.#rules) {
      const decided = this.#byCaller(when);
      if (decided === false) continue;
      if (decided === true) return effect === 'allow' ? undefined : grantPaths;
      if (effect === 'deny') unless.push(when);
      else if (!this.#isFound(when)) return undefined;
      else grantPaths.push({ when, unless: [...unless] });
    }
    return afterTheRules[this.#operation] ? undefined : grantPaths;
  }

  /** Whether the rows to which a condition applies are found by the rights of the caller. */
  #isFound(condition: Condition): boolean {
    if (condition.is === 'related') return !isOpenToMembers(this.#module, condition.relations, this.#viewer);
    if (condition.is !== 'through') return false;
    return this.#isFromSelf(condition) || this.#idsAbove(condition.field) !== undefined;
  }

  #isFromSelf(condition: Condition): boolean {
    return condition.is === 'through' && this.#selfReferences.includes(condition.field);
  }

  /** Ids of the records above by which the right comes; undefined when these are too many to be found first. */
  #idsAbove(field: string): Sql | undefined {
    if (!this.#above.has(field)) {
      const compiler = new RuleCompiler(
        this.#viewer.targetOf(this.#module, field),
        this.#viewer,
        operationAbove(this.#operation),
      );
      const grantPaths = compiler.#grantPaths();
      this.#above.set(field, grantPaths && compiler.#ids(grantPaths));
    }
    return this.#above.get(field);
  }

  /** What of the grantPaths does not come from records of the same kind: one predicate for each index that may be used. */
  #directly(grantPaths: readonly GrantPath[], alias: string): Sql[] {
    return grantPaths
      .filter(({ when }) => !this.#isFromSelf(when))
      .flatMap(({ when, unless }) => {
        const refusals = unless.map((condition) => sql`${this.#condition(condition, alias, 'asked')} is not true`);
        return this.#alternatives(when, alias).map((applies) => sql.join([applies, ...refusals], sql` and `));
      });
  }

  /** A condition as what finds rows, one piece of SQL for each index that may be used. */
  #alternatives(condition: Condition, alias: string): Sql[] {
    if (condition.is === 'related') return this.#related(condition.relations, alias, 'semi-join');
    if (condition.is !== 'through') throw new Error(`condition "${condition.is}" finds no rows`);
    const ids = this.#idsAbove(condition.field);
    return ids ? [sql`${column(alias, condition.field)} = any(array(${ids}))`] : [];
  }

  /** @param fromSelf what passes down from records of the same kind */
  #predicate(alias: string, fromSelf: FromSelf, rules: readonly Rule[] = this.#rules): Sql {
    const [rule, ...rest] = rules;
    if (!rule) return afterTheRules[this.#operation] ? sql`true` : sql`false`;
    const decided = this.#byCaller(rule.when);
    if (decided === true) return rule.effect === 'allow' ? sql`true` : sql`false`;
    if (decided === false) return this.#predicate(alias, fromSelf, rest);
    const applies = this.#condition(rule.when, alias, fromSelf);
    const otherwise = this.#predicate(alias, fromSelf, rest);
    return rule.effect === 'allow' ? sql`(${applies} or ${otherwise})` : sql`(${applies} is not true and ${otherwise})`;
  }

  /** References to the same kind, unless the caller alone decides before they are asked. */
  #reachedSelfReferences(): string[] {
    const fields: string[] = [];
    for (const { when } of this.#rules) {
      const decided = this.#byCaller(when);
      if (decided === true) break;
      if (
        decided === undefined &&
        when.is === 'through' &&
        this.#viewer.targetOf(this.#module, when.field) === this.#module
      )
        fields.push(when.field);
    }
    return fields;
  }

  #byCaller(condition: Condition): boolean | undefined {
    return this.#viewer.decide(condition, { kind: this.#module.kind, operation: this.#operation });
  }

  #condition(condition: Condition, alias: string, fromSelf: FromSelf): Sql {
    const { subjectId, organizationId } = this.#viewer;
    switch (condition.is) {
      case 'role-in':
        return sql`${column(alias, condition.field)} = ${organizationId}`;
      case 'self':
        return sql`${column(alias, condition.field)} = ${subjectId}`;
      case 'member-of':
        return sql`exists (select 1 from memberships m where m.organization_id = ${column(alias, condition.field)}
          and m.user_id = ${subjectId} and m.deleted_at is null)`;
      case 'related': {
        const grantPaths = this.#related(condition.relations, alias, 'of the row');
        return grantPaths.length === 0 ? sql`false` : sql`(${sql.join(grantPaths, sql` or `)})`;
      }
      case 'through':
        return this.#through(alias, condition.field, fromSelf);
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

  #related(relations: readonly string[], alias: string, lookup: Lookup): Sql[] {
    return relatedPredicates(this.#module, relations, alias, this.#viewer, lookup);
  }

  #through(alias: string, field: string, fromSelf: FromSelf): Sql {
    if (fromSelf !== 'asked' && this.#selfReferences.includes(field))
      return fromSelf !== 'refuses' && fromSelf.allowsBy === field ? sql`true` : sql`false`;
    const target = this.#viewer.targetOf(this.#module, field);
    const above = `${alias}_${field}`;
    return sql`exists (select 1 from ${sql.table(target.table)} as ${sql.ref(above)}
      where ${column(above, 'id')} = ${column(alias, field)} and ${scopePredicate(target, above, this.#viewer)}
      and ${permitted(target, above, this.#viewer, operationAbove(this.#operation))})`;
  }
}

/**
 * A lateral statement that is run for each row before it. Without "offset 0" the planner, which takes what a hierarchy holds to
 * be a lot, may read all of the organization at each step, above all where a plan is kept for every caller.
 */
function oneAtATime(statement: Sql): Sql {
  return sql`${statement} offset 0`;
}
