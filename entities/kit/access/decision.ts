import { sql } from 'kysely';
import { readAuthorizationState, type AuthorizationState } from './authorization-state.ts';
import { checkRequestFor } from './check-request.ts';
import type { Authorizer, CheckResult } from './authorizer.ts';
import type { Caller } from '../model/caller.ts';
import { isConfined, isWithinReach } from '../model/confinement.ts';
import type { EntityModule } from '../model/define.ts';
import {
  afterTheRules,
  decideByCaller,
  operationAbove,
  type Condition,
  type Operation,
  type Rule,
} from '../model/policy.ts';
import { isWithinLimits } from '../model/scopes.ts';
import { column } from '../storage/column.ts';
import { compileSql } from '../storage/sql.ts';
import { Viewer } from '../read/viewer.ts';
import { permitted } from '../read/visibility.ts';
import type { Work } from '../storage/work.ts';

type Row = Readonly<Record<string, unknown>>;

export interface Decision extends CheckResult {
  /** Index of the deciding rule; undefined when no rule applied, or when the authorization store or the rows decided. */
  readonly rule: number | undefined;
}

interface DecisionSources {
  readonly work: Work;
  /** Undefined while checks by the authorization store are off; rights are decided from the rows then. */
  readonly authorizer: Authorizer | undefined;
  /** Finds a record that the caller may view. */
  readonly findVisible: (module: EntityModule, id: string) => Promise<Row | undefined>;
}

/** Decides rights to single records for one caller of a unit of work. Lists are decided in their own SQL statement. */
export class Decisions {
  readonly #sources: DecisionSources;
  readonly #caller: Caller;
  readonly #taken = new Map<string, Promise<CheckResult>>();

  constructor(sources: DecisionSources, caller: Caller) {
    this.#sources = sources;
    this.#caller = caller;
  }

  /** Evaluates the rules in their order; the first that applies decides. @throws AppError authorization_unavailable */
  async decide(module: EntityModule, operation: Operation, row: Row): Promise<Decision> {
    const isOutOfReach = isConfined(this.#caller) && !isWithinReach(module, operation);
    if (isOutOfReach || !isWithinLimits(this.#caller, { kind: module.kind, operation }))
      return { isAllowed: false, by: 'rules', rule: undefined };
    const decision = await this.#decideByRules(module, operation, row);
    const { restricted } = module;
    const isFree = restricted?.is !== row[restricted?.field ?? ''] || !['create', 'remove'].includes(operation);
    if (!restricted || isFree || !decision.isAllowed || this.#caller.kind === 'system') return decision;
    const isAllowed = await this.#hasRightAbove(module, restricted.on, restricted.requires, row);
    return isAllowed ? decision : { isAllowed, by: 'rules', rule: undefined };
  }

  async #decideByRules(module: EntityModule, operation: Operation, row: Row): Promise<Decision> {
    const rules: readonly Rule[] = module.policy?.[operation] ?? [];
    for (const [index, { effect, when }] of rules.entries()) {
      const applies = this.#decideByRow(when, row, { kind: module.kind, operation });
      if (applies === undefined) {
        if (operation !== 'create') return { ...(await this.#checkRights(module, operation, row)), rule: undefined };
        if (!(await this.#parentAllows(module, when, row))) continue;
      } else if (!applies) continue;
      return { isAllowed: effect === 'allow', by: 'rules', rule: index };
    }
    return { isAllowed: afterTheRules[operation], by: 'rules', rule: undefined };
  }

  /** Evaluates a condition; undefined when caller and row do not decide it. */
  #decideByRow(condition: Condition, row: Row, asked: { kind: string; operation: Operation }): boolean | undefined {
    const decided = decideByCaller(condition, this.#caller, asked);
    if (decided !== undefined) return decided;
    if (condition.is === 'role-in') return row[condition.field] === this.#caller.organizationId;
    if (condition.is === 'self' || (condition.is === 'scope' && condition.field !== undefined))
      return row[condition.field as string] === this.#caller.subjectId;
    if (condition.is === 'related' || condition.is === 'through') return undefined;
    throw new Error(`condition "${condition.is}" cannot decide a change`);
  }

  /** Whether the caller has the right to edit the parent, which a creation below it needs. */
  async #parentAllows(module: EntityModule, condition: Condition, row: Row): Promise<boolean> {
    if (condition.is !== 'through') throw new Error(`condition "${condition.is}" cannot decide a creation`);
    return this.#hasRightAbove(module, condition.field, operationAbove('create'), row);
  }

  async #hasRightAbove(module: EntityModule, field: string, operation: Operation, row: Row): Promise<boolean> {
    const id = row[field];
    if (typeof id !== 'string') return false;
    const target = this.#sources.work.registry.references.targetOf(module, field);
    const parent = await this.#sources.findVisible(target, id);
    return parent !== undefined && (await this.decide(target, operation, parent)).isAllowed;
  }

  /** Checks a right in the authorization store; in the rows while the store is off, or after this unit of work changed tuples. */
  #checkRights(module: EntityModule, operation: Exclude<Operation, 'create'>, row: Row): Promise<CheckResult> {
    const key = `${this.#sources.work.changedTuples} ${module.kind} ${operation} ${String(row['id'])}`;
    const taken = this.#taken.get(key) ?? this.#check(module, operation, row);
    this.#taken.set(key, taken);
    return taken;
  }

  async #check(module: EntityModule, operation: Exclude<Operation, 'create'>, row: Row): Promise<CheckResult> {
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
    let firstState: AuthorizationState | undefined = state;
    return authorizer.decide(request, () => {
      const first = firstState;
      firstState = undefined;
      return first ? Promise.resolve(first) : readState();
    });
  }
}
