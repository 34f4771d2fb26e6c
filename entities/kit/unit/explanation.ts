import { sql } from 'kysely';
import type { DecidedBy } from '../access/authorizer.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { deniedReason, type Denied } from '../model/denied-message.ts';
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
import { archivedMessage } from '../base/archived-message.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import { Viewer } from '../read/viewer.ts';
import { applies, permitted } from '../read/visibility.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface Explanation {
  readonly kind: string;
  readonly id: string;
  readonly isAllowed: boolean;
  readonly decidedBy: DecidedBy;
  /** Why it is refused: a sentence; null when it is allowed. */
  readonly reason: string | null;
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
  const row = await wholeRowOf(unit, module, id);
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
      : await unit.data.as(caller).decide(module, operation, row);
  if (decision.isAllowed !== isAllowed)
    throw new Error(
      `rules and decision have different results: ${operation} ${module.kind} ${id} for ${caller.subjectId}`,
    );
  const explained = { kind: module.kind, id, decidedBy: decision.by, rules };
  if (isAllowed && (await isFrozen(unit, module, operation)))
    return { ...explained, isAllowed: false, reason: archivedMessage };
  const reason = isAllowed ? null : reasonOf(module, { operation, caller, row }, rules);
  return { ...explained, isAllowed, reason };
}

/** The rule that refuses, if there is one, or what gives the right to others. */
function reasonOf(module: EntityModule, denied: Denied, rules: readonly ExplainedRule[]): string {
  const last = rules.at(-1);
  return last?.relations.length
    ? `The rule ${last.rule} refuses it: the person or one of their groups is related to the record as ${last.relations.join(', ')}.`
    : deniedReason(module, denied);
}

/** Whether an operation on records of a kind is refused to everybody because the organization of the unit of work is archived. */
export async function isFrozen(unit: UnitOfWork, { kind, tenancy }: EntityModule, operation: Asked): Promise<boolean> {
  const isEnding = operation === 'remove' && unit.registry.endsWithOrganization(kind);
  if (operation === 'view' || tenancy !== 'organization' || isEnding) return false;
  const session = await unit.readAs('app');
  const { rows } = await session.query('select 1 from organizations where id = $1 and is_archived', [
    unit.context.caller.organizationId,
  ]);
  return rows.length > 0;
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
