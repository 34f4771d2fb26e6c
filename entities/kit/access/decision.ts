import { sql } from 'kysely';
import { readAuthorizationState, type AuthorizationState } from './authorization-state.ts';
import { checkRequestFor } from './check-request.ts';
import type { CheckResult } from './authorizer.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { targetOf } from '../model/links.ts';
import {
  afterTheRules,
  decideByCaller,
  operationAbove,
  type Condition,
  type Operation,
  type Rule,
} from '../model/policy.ts';
import { column } from '../storage/column.ts';
import { compileSql } from '../storage/sql.ts';
import { permitted } from '../read/visibility.ts';
import type { UnitOfWork } from '../unit/unit-of-work.ts';

type Row = Readonly<Record<string, unknown>>;

export interface Decision extends CheckResult {
  /** Place of the rule that decided; undefined when none did, or when the authorization store looked at all of them. */
  readonly rule: number | undefined;
}

/** Takes the decisions of one unit of work about single records; lists are decided in their own statement. */
export class Decisions {
  readonly #unit: UnitOfWork;
  readonly #caller: Caller;
  readonly #taken = new Map<string, Promise<CheckResult>>();

  constructor(unit: UnitOfWork, caller: Caller) {
    this.#unit = unit;
    this.#caller = caller;
  }

  /** Rules in their order; the first that applies decides. @throws AppError authorization_unavailable */
  async decide(module: EntityModule, operation: Operation, row: Row): Promise<Decision> {
    const rules: readonly Rule[] = module.policy?.[operation] ?? [];
    for (const [place, { effect, when }] of rules.entries()) {
      const applies = this.#byRow(when, row, { kind: module.kind, operation });
      if (applies === undefined) {
        if (operation !== 'create') return { ...(await this.#byRights(module, operation, row)), rule: undefined };
        if (!(await this.#aboveAllows(module, when, row))) continue;
      } else if (!applies) continue;
      return { isAllowed: effect === 'allow', by: 'rules', rule: place };
    }
    return { isAllowed: afterTheRules[operation], by: 'rules', rule: undefined };
  }

  /** Undefined when neither caller nor row alone decide. */
  #byRow(condition: Condition, row: Row, asked: { kind: string; operation: Operation }): boolean | undefined {
    const decided = decideByCaller(condition, this.#caller, asked);
    if (decided !== undefined) return decided;
    if (condition.is === 'role-in') return row[condition.field] === this.#caller.organizationId;
    if (condition.is === 'self') return row[condition.field] === this.#caller.subjectId;
    if (condition.is === 'related' || condition.is === 'through') return undefined;
    throw new Error(`condition "${condition.is}" cannot decide a change`);
  }

  /** What is created below a record needs the right to change that. */
  async #aboveAllows(module: EntityModule, condition: Condition, row: Row): Promise<boolean> {
    if (condition.is !== 'through') throw new Error(`condition "${condition.is}" cannot decide a creation`);
    const id = row[condition.field];
    if (typeof id !== 'string') return false;
    const target = targetOf(module, condition.field);
    const above = await this.#unit.data.as(this.#caller).findOne(target, { id: { eq: id } });
    return above !== undefined && (await this.decide(target, operationAbove('create'), above)).isAllowed;
  }

  /** Asked of the authorization store; by the rows while it is off, and for rights that this unit of work changed itself. */
  #byRights(module: EntityModule, operation: Exclude<Operation, 'create'>, row: Row): Promise<CheckResult> {
    const key = `${this.#unit.counters.tupleChanges} ${module.kind} ${operation} ${String(row['id'])}`;
    const taken = this.#taken.get(key) ?? this.#ask(module, operation, row);
    this.#taken.set(key, taken);
    return taken;
  }

  async #ask(module: EntityModule, operation: Exclude<Operation, 'create'>, row: Row): Promise<CheckResult> {
    const { authorizer } = this.#unit.database.options;
    const { organizationId } = this.#caller;
    const session = await this.#unit.readAs('app');
    if (!authorizer || organizationId === null || this.#unit.counters.tupleChanges > 0) {
      const { text, values } = compileSql(sql`select ${permitted(module, 'r', this.#caller, operation)} as allowed
        from ${sql.table(module.table)} as r where ${column('r', 'id')} = ${row['id']}`);
      const { rows } = await session.query<{ allowed: boolean | null }>(text, values);
      return { isAllowed: rows[0]?.allowed === true, by: 'rows' };
    }
    const readState = (): Promise<AuthorizationState> => readAuthorizationState(session, organizationId);
    const state = await readState();
    const question = await checkRequestFor(session, { module, row, operation }, this.#caller, state.organizations);
    let known: AuthorizationState | undefined = state;
    return authorizer.decide(question, () => {
      const first = known;
      known = undefined;
      return first ? Promise.resolve(first) : readState();
    });
  }
}
