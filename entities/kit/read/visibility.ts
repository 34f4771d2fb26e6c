import { sql } from 'kysely';
import { isWithinReach } from '../model/confinement.ts';
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
import { perRow } from './per-row.ts';
import { scopePredicate } from './scope.ts';
import type { Viewer } from './viewer.ts';
import type { Sql } from '../storage/sql.ts';

/**
 * Predicate for the rows that the caller can view: live rows of its tenancy to which the rules allow access. For rows that are
 * found by another condition, such as the id.
 */
export function visible(module: EntityModule, alias: string, viewer: Viewer): Sql {
  if (!isWithinLimits(module, viewer, 'view')) return sql`false`;
  return sql`${scopePredicate(module, alias, viewer)} and ${permitted(module, alias, viewer, 'view')}`;
}

/**
 * The same predicate for lists. Where rights are granted per record, it finds the rows by the caller's grants, so the cost of a
 * list depends on what the caller can view, not on the size of the organization (docs/decisions/indexes-below-row-level-security.md).
 */
export function visibleInList(module: EntityModule, alias: string, viewer: Viewer): Sql {
  if (!isWithinLimits(module, viewer, 'view')) return sql`false`;
  return sql`${scopePredicate(module, alias, viewer)} and ${new RuleCompiler(module, viewer, 'view').listPredicate(alias)}`;
}

function isWithinLimits(module: EntityModule, viewer: Viewer, operation: Operation): boolean {
  if (!viewer.isWithinLimits({ kind: module.kind, operation })) return false;
  return isWithinReach(module, operation) || !viewer.isConfined;
}

/**
 * Predicate for the rows on which the rules allow the caller the operation: the first rule that applies decides; if none applies,
 * the operation's default does. It gives the same result as a check by the authorization store. A personal token limits what its
 * person does with records, not the rights from which these rights come (`through`).
 */
export function permitted(module: EntityModule, alias: string, viewer: Viewer, operation: Operation): Sql {
  if (!isWithinLimits(module, viewer, operation)) return sql`false`;
  return new RuleCompiler(module, viewer, operation).predicate(alias);
}

/** Predicate for the rows to which one condition of the rules applies for this caller. */
export function applies(
  module: EntityModule,
  alias: string,
  viewer: Viewer,
  operation: Operation,
  condition: Condition,
): Sql {
  return new RuleCompiler(module, viewer, operation).applies(alias, condition);
}

/**
 * How a `through` rule is compiled when the parent is of the same kind: by evaluating the parent's rules, as refused, or as allowed
 * through one reference only.
 */
type FromSelf = 'evaluated' | 'refused' | { readonly allowsBy: string };

/** The condition of an allowing rule, with the conditions of the denying rules before it. */
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
  /** References through which the right passes from parent to child within the kind. */
  readonly #selfReferences: readonly string[];
  readonly #parentIds = new Map<string, Sql | undefined>();

  constructor(module: EntityModule, viewer: Viewer, operation: Operation) {
    this.#module = module;
    this.#viewer = viewer;
    this.#operation = operation;
    this.#rules = module.policy?.[operation] ?? [];
    // An operation that does not pass down itself (remove) requires a different right to the parent, which has a compiler of its own.
    const isPassedDown = operation === operationAbove(operation);
    this.#selfReferences = isPassedDown ? this.#findSelfReferences() : [];
  }

  /** For a given row: looks up the grants of the row and of its ancestors. */
  predicate(alias: string): Sql {
    if (this.#selfReferences.length === 0) return this.#predicate(alias, 'evaluated');
    const table = sql.table(this.#module.table);
    const steps = this.#selfReferences.map(
      (field) => sql`select up.id from ${table} as below join ${table} as up on up.id = ${column('below', field)}
        where below.id = climbed.id and ${scopePredicate(this.#module, 'up', this.#viewer)} and ${this.#predicate('below', { allowsBy: field })}`,
    );
    return sql`exists (with recursive climbed(id) as (
        select ${column(alias, 'id')}
        union
        select above.id from climbed cross join lateral (${perRow(sql.join(steps, sql` union all `))}) as above
      ) select 1 from climbed cross join lateral (${perRow(
        sql`select 1 from ${table} as held where held.id = climbed.id and ${this.#predicate('held', 'refused')}`,
      )}) as held)`;
  }

  applies(alias: string, condition: Condition): Sql {
    return this.#predicate(alias, 'evaluated', [allow(condition), deny(anyone)]);
  }

  /** For a list: looks up the ids of rows that the caller has rights to first, unless its rights are not limited to single records. */
  listPredicate(alias: string): Sql {
    const grantPaths = this.#grantPaths();
    if (!grantPaths) return this.predicate(alias);
    const [only, ...others] = this.#directPredicates(grantPaths, alias);
    if (only && others.length === 0 && this.#selfReferences.length === 0) return only;
    return sql`${column(alias, 'id')} = any(array(${this.#ids(grantPaths)}))`;
  }

  /** A statement that selects the ids of all live rows to which one of the paths leads. */
  #ids(grantPaths: readonly GrantPath[]): Sql {
    const table = sql.table(this.#module.table);
    const direct = this.#directPredicates(grantPaths, 'own').map(
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
      select passed.id from reached cross join lateral (${perRow(sql.join(steps, sql` union all `))}) as passed
    ) select id from reached`;
  }

  /** The paths by which rows are permitted; undefined when the permitted rows cannot be found by the caller's grants. */
  #grantPaths(): readonly GrantPath[] | undefined {
    const grantPaths: GrantPath[] = [];
    const unless: Condition[] = [];
    for (const { effect, when } of this.#rules) {
      const decided = this.#decideByCaller(when);
      if (decided === false) continue;
      if (decided === true) return effect === 'allow' ? undefined : grantPaths;
      if (effect === 'deny') unless.push(when);
      else if (!this.#canBeFound(when)) return undefined;
      else grantPaths.push({ when, unless: [...unless] });
    }
    return afterTheRules[this.#operation] ? undefined : grantPaths;
  }

  /** Whether the rows to which a condition applies can be found by the caller's grants. */
  #canBeFound(condition: Condition): boolean {
    if (condition.is === 'related') return !isOpenToMembers(this.#module, condition.relations, this.#viewer);
    if (condition.is !== 'through') return false;
    return this.#isFromSelf(condition) || this.#idsOfParents(condition.field) !== undefined;
  }

  #isFromSelf(condition: Condition): boolean {
    return condition.is === 'through' && this.#selfReferences.includes(condition.field);
  }

  /** A statement for the ids of the parents that pass the right; undefined when they cannot be found by the caller's grants. */
  #idsOfParents(field: string): Sql | undefined {
    if (!this.#parentIds.has(field)) {
      const compiler = new RuleCompiler(
        this.#viewer.targetOf(this.#module, field),
        this.#viewer,
        operationAbove(this.#operation),
      );
      const grantPaths = compiler.#grantPaths();
      this.#parentIds.set(field, grantPaths && compiler.#ids(grantPaths));
    }
    return this.#parentIds.get(field);
  }

  /** Predicates of the paths that do not lead through parents of the same kind, one for each index that PostgreSQL can use. */
  #directPredicates(grantPaths: readonly GrantPath[], alias: string): Sql[] {
    return grantPaths
      .filter(({ when }) => !this.#isFromSelf(when))
      .flatMap(({ when, unless }) => {
        const refusals = unless.map((condition) => sql`${this.#condition(condition, alias, 'evaluated')} is not true`);
        return this.#alternatives(when, alias).map((applies) => sql.join([applies, ...refusals], sql` and `));
      });
  }

  /** Predicates that find the rows of a condition, one for each index that PostgreSQL can use. */
  #alternatives(condition: Condition, alias: string): Sql[] {
    if (condition.is === 'related') return this.#related(condition.relations, alias, 'semi-join');
    if (condition.is !== 'through') throw new Error(`condition "${condition.is}" cannot be looked up by grants`);
    const ids = this.#idsOfParents(condition.field);
    return ids ? [sql`${column(alias, condition.field)} = any(array(${ids}))`] : [];
  }

  /** @param fromSelf how `through` is compiled for parents of the same kind */
  #predicate(alias: string, fromSelf: FromSelf, rules: readonly Rule[] = this.#rules): Sql {
    const [rule, ...rest] = rules;
    if (!rule) return afterTheRules[this.#operation] ? sql`true` : sql`false`;
    const decided = this.#decideByCaller(rule.when);
    if (decided === true) return rule.effect === 'allow' ? sql`true` : sql`false`;
    if (decided === false) return this.#predicate(alias, fromSelf, rest);
    const applies = this.#condition(rule.when, alias, fromSelf);
    const otherwise = this.#predicate(alias, fromSelf, rest);
    return rule.effect === 'allow' ? sql`(${applies} or ${otherwise})` : sql`(${applies} is not true and ${otherwise})`;
  }

  /** References to the same kind in `through` rules, up to the first rule that the caller alone decides. */
  #findSelfReferences(): string[] {
    const fields: string[] = [];
    for (const { when } of this.#rules) {
      const decided = this.#decideByCaller(when);
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

  #decideByCaller(condition: Condition): boolean | undefined {
    return this.#viewer.decide(condition, { kind: this.#module.kind, operation: this.#operation });
  }

  #condition(condition: Condition, alias: string, fromSelf: FromSelf): Sql {
    const { subjectId, organizationId } = this.#viewer;
    switch (condition.is) {
      case 'role-in':
        return sql`${column(alias, condition.field)} = ${organizationId}`;
      case 'self':
      case 'scope':
        // About a scope without a field, the caller alone decides.
        return sql`${column(alias, condition.field as string)} = ${subjectId}`;
      case 'member-of':
        return sql`exists (select 1 from memberships m where m.organization_id = ${column(alias, condition.field)}
          and m.user_id = ${subjectId} and m.deleted_at is null)`;
      case 'related': {
        const predicates = this.#related(condition.relations, alias, 'exists');
        return predicates.length === 0 ? sql`false` : sql`(${sql.join(predicates, sql` or `)})`;
      }
      case 'through':
        return this.#through(alias, condition.field, fromSelf);
      case 'about-hidden':
        return this.#aboutHidden(alias, condition.field);
      case 'anyone':
      case 'system':
      case 'signed-in':
      case 'role':
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

  /** Of a reference to several kinds, the kind in the row decides which of the look-ups is made. */
  #aboutHidden(alias: string, field: string): Sql {
    const id = column(alias, field);
    const isViewed = (target: EntityModule, about = `${alias}_${target.kind}`) =>
      sql`exists (${perRow(sql`select 1 from ${sql.table(target.table)} as ${sql.ref(about)}
        where ${column(about, 'id')} = ${id} and ${visible(target, about, this.#viewer)}`)})`;
    const anyOf = this.#module.fields[field]?.anyOf;
    if (!anyOf) return sql`(${id} is not null and not ${isViewed(this.#viewer.targetOf(this.#module, field))})`;
    const kinds = this.#viewer.kindsOf(this.#module, field);
    const lookUps = kinds.map((target) => sql`when ${target.topic}::text then ${isViewed(target)}`);
    return sql`(${id} is not null and not (case ${column(alias, anyOf.kindIn)} ${sql.join(lookUps, sql` `)} else false end))`;
  }

  #through(alias: string, field: string, fromSelf: FromSelf): Sql {
    if (fromSelf !== 'evaluated' && this.#selfReferences.includes(field))
      return fromSelf !== 'refused' && fromSelf.allowsBy === field ? sql`true` : sql`false`;
    const target = this.#viewer.targetOf(this.#module, field);
    const above = `${alias}_${field}`;
    const passing = sql`select 1 from ${sql.table(target.table)} as ${sql.ref(above)}
      where ${column(above, 'id')} = ${column(alias, field)} and ${scopePredicate(target, above, this.#viewer)}
      and ${new RuleCompiler(target, this.#viewer, operationAbove(this.#operation)).predicate(above)}`;
    // Of several alternatives the planner makes hash tables of all records above, also for one row.
    const isOneOfSeveral = this.#rules.filter(({ when }) => when.is === 'through').length > 1;
    return sql`exists (${isOneOfSeveral ? perRow(passing) : passing})`;
  }
}
