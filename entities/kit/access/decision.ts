import { sql } from 'kysely';
import { readAuthorizationState, type AuthorizationState } from './authorization-state.ts';
import { checkRequestFor } from './check-request.ts';
import type { Authorizer, CheckResult } from './authorizer.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
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
import { Viewer } from '../read/viewer.ts';
import { permitted } from '../read/visibility.ts';
import type { Work } from '../storage/work.ts';

type Row = Readonly<Record<string, unknown>>;

export interface Decision extends CheckResult {
  /** Index of the rule that decided; undefined when none did, or when the authorization store looked at all of them. */
  readonly rule: number | undefined;
}

/** What decisions are taken from. */
export interface DecisionSources {
  readonly work: Work;
  /** Undefined while authorization checks are off: then the rows decide. */
  readonly authorizer: Authorizer | undefined;
  /** Finds a record that the caller may view. */
  readonly findVisible: (module: EntityModule, id: string) => Promise<Row | undefined>;
}

/** Decides about single records for one caller of a unit of work; lists are decided in their own statement. */
export class Decisions {
  readonly #sources: DecisionSources;
  readonly #caller: Caller;
  readonly #taken = new Map<string, Promise<CheckResult>>();

  constructor(sources: DecisionSources, caller: Caller) {
    this.#sources = sources;
    this.#caller = caller;
  }

  /** Rules in their order; the first that applies decides. @throws AppError authorization_unavailable */
  async decide(module: EntityModule, operation: Operation, row: Row): Promise<Decision> {
    const rules: readonly Rule[] = module.policy?.[operation] ?? [];
    for (const [index, { effect, when }] of rules.entries()) {
      const applies = this.#byRow(when, row, { kind: module.kind, operation });
      if (applies === undefined) {
        if (operation !== 'create') return { ...(await this.#byRights(module, operation, row)), rule: undefined };
        if (!(await this.#aboveAllows(module, when, row))) continue;
      } else if (!applies) continue;
      return { isAllowed: effect === 'allow', by: 'rules', rule: index };
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
    const target = this.#sources.work.registry.references.targetOf(module, condition.field);
    const above = await this.#sources.findVisible(target, id);
    return above !== undefined && (await this.decide(target, operationAbove('create'), above)).isAllowed;
  }

  /** Asked of the authorization store; by the rows while it is off, and for rights that this unit of work changed itself. */
  #byRights(module: EntityModule, operation: Exclude<Operation, 'create'>, row: Row): Promise<CheckResult> {
    const key = `${this.#sources.work.changedTuples} ${module.kind} ${operation} ${String(row['id'])}`;
    const taken = this.#taken.get(key) ?? this.#ask(module, operation, row);
    this.#taken.set(key, taken);
    return taken;
  }

  async #ask(module: EntityModule, operation: Exclude<Operation, 'create'>, row: Row): Promise<CheckResult> {
    const { work, authorizer } = this.#sources;
    const { organizationId } = this.#caller;
    const session = await work.readAs('app');
    if (!authorizer || organizationId === null || work.changedTuples > 0) {
      const { text, values } =
        compileSql(sql`select ${permitted(module, 'r', Viewer.of(work.registry, this.#caller), operation)} as allowed
        from ${sql.table(module.table)} as r where ${column('r', 'id')} = ${row['id']}`);
      const { rows } = await session.query<{ allowed: boolean | null }>(text, values);
      return { isAllowed: rows[0]?.allowed === true, by: 'rows' };
    }
    const readState = (): Promise<AuthorizationState> => readAuthorizationState(session, organizationId);
    const state = await readState();
    const request = await checkRequestFor(
      session,
      work.registry,
      { module, row, operation },
      this.#caller,
      state.organizations,
    );
    let known: AuthorizationState | undefined = state;
    return authorizer.decide(request, () => {
      const first = known;
      known = undefined;
      return first ? Promise.resolve(first) : readState();
    });
  }
}
