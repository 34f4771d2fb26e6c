import { sql } from 'kysely';
import type { DecidedBy } from '../access/authorizer.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { isExposed } from '../model/exposure.ts';
import {
  afterTheRules,
  decideByCaller,
  operationAbove,
  related,
  type Condition,
  type Operation,
} from '../model/policy.ts';
import { printRule } from '../model/print-rule.ts';
import { column } from '../storage/column.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import { Viewer } from '../read/viewer.ts';
import { applies, permitted } from '../read/visibility.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** The explanation of a decision on an operation of a caller on a record. */
export interface Explanation {
  readonly kind: string;
  readonly id: string;
  readonly isAllowed: boolean;
  readonly decidedBy: DecidedBy;
  /** The rules in their order, up to the one that decided; if none did, the last entry is the default. */
  readonly rules: readonly ExplainedRule[];
}

export interface ExplainedRule {
  readonly rule: string;
  readonly doesApply: boolean;
  /** Relations of the caller to the record because of which the rule applies. */
  readonly relations: readonly string[];
  /** The explanation for the parent record that passes the right, if the person who asks may view it. */
  readonly above: Explanation | null;
}

type Asked = Exclude<Operation, 'create'>;

/**
 * Explains a decision: evaluates each rule separately on the rows, and takes the actual decision to find out whether the cache, the
 * authorization store or the rows decide it.
 * @param id of a live record of the caller's organization
 * @throws Error when the rules and the decision have different results
 */
export async function explain(
  unit: UnitOfWork,
  caller: Caller,
  module: EntityModule,
  id: string,
  operation: Asked,
): Promise<Explanation> {
  const rules: ExplainedRule[] = [];
  let isAllowed: boolean = afterTheRules[operation];
  for (const rule of module.policy?.[operation] ?? []) {
    const { doesApply, ...how } = await explainCondition(unit, caller, module, id, operation, rule.when);
    rules.push({ rule: printRule(rule), doesApply, ...how });
    if (!doesApply) continue;
    isAllowed = rule.effect === 'allow';
    break;
  }
  if (!rules.at(-1)?.doesApply) {
    const rule = `no rule applies: ${isAllowed ? 'allow' : 'deny'}`;
    rules.push({ rule, doesApply: true, relations: [], above: null });
  }
  const decision =
    operation === 'view'
      ? {
          isAllowed: await holds(unit, module, id, permitted(module, 'r', Viewer.of(unit.registry, caller), operation)),
          by: 'rows' as const,
        }
      : await unit.data.as(caller).decide(module, operation, await wholeRowOf(unit, module, id));
  if (decision.isAllowed !== isAllowed)
    throw new Error(
      `rules and decision have different results: ${operation} ${module.kind} ${id} for ${caller.subjectId}`,
    );
  return { kind: module.kind, id, isAllowed, decidedBy: decision.by, rules };
}

async function explainCondition(
  unit: UnitOfWork,
  caller: Caller,
  module: EntityModule,
  id: string,
  operation: Asked,
  condition: Condition,
): Promise<Omit<ExplainedRule, 'rule'>> {
  const decided = decideByCaller(condition, caller, { kind: module.kind, operation });
  const doesApply =
    decided ??
    (await holds(unit, module, id, applies(module, 'r', Viewer.of(unit.registry, caller), operation, condition)));
  if (!doesApply) return { doesApply, relations: [], above: null };
  if (condition.is === 'related') {
    const relations: string[] = [];
    for (const name of condition.relations)
      if (
        await holds(unit, module, id, applies(module, 'r', Viewer.of(unit.registry, caller), operation, related(name)))
      )
        relations.push(name);
    return { doesApply, relations, above: null };
  }
  if (condition.is === 'through') {
    const row = await wholeRowOf(unit, module, id);
    const target = unit.registry.references.targetOf(module, condition.field);
    const aboveId = row[condition.field] as string;
    // The explanation must not reveal records that the person who asks cannot view.
    const isSeen = isExposed(target) && (await unit.data.findOne(target, { id: { eq: aboveId } })) !== undefined;
    const above = isSeen ? await explain(unit, caller, target, aboveId, operationAbove(operation)) : null;
    return { doesApply, relations: [], above };
  }
  return { doesApply, relations: [], above: null };
}

async function holds(unit: UnitOfWork, module: EntityModule, id: string, predicate: Sql): Promise<boolean> {
  const session = await unit.readAs('app');
  const { text, values } = compileSql(
    sql`select (${predicate}) is true as holds from ${sql.table(module.table)} as r where ${column('r', 'id')} = ${id}`,
  );
  return (await session.query<{ holds: boolean }>(text, values)).rows[0]?.holds ?? false;
}

/** Reads the row with the rights of the server: the person whose rights are explained may not be able to view it. */
function wholeRowOf(unit: UnitOfWork, module: EntityModule, id: string): Promise<Record<string, unknown>> {
  return unit.data.privileged('explain access').get(module, id);
}
