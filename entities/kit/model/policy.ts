import { callerKinds, type Caller, type Role } from './caller.ts';
import { snakeCase } from '../base/snake-case.ts';

/**
 * Rules as data. They are evaluated in order, and the first that applies decides. If none applies, queries are allowed and mutations
 * rejected. The same rules are compiled into SQL predicates of reads, into checks of changes
 * and into the authorization model.
 */
export interface Policy {
  readonly view: readonly Rule[];
  readonly create: readonly Rule[];
  readonly edit: readonly Rule[];
  readonly remove: readonly Rule[];
}

export type Operation = keyof Policy;

export interface Rule {
  readonly effect: 'allow' | 'deny';
  readonly when: Condition;
}

export type Condition =
  | { readonly is: 'anyone' }
  | { readonly is: 'system' }
  /** A person; API tokens have scopes. */
  | { readonly is: 'signed-in' }
  /** The caller has one of these roles in the organization in which it acts. */
  | { readonly is: 'role'; readonly roles: readonly Role[] }
  /** The named field holds the id of the organization in which the caller acts, and the caller has one of these roles there. */
  | { readonly is: 'role-in'; readonly field: string; readonly roles: readonly Role[] }
  /** The named field holds the caller's own subject id. */
  | { readonly is: 'self'; readonly field: string }
  /** The caller has a live membership in the organization whose id the named field holds. */
  | { readonly is: 'member-of'; readonly field: string }
  /**
   * The caller is an API token with the required scope: `<kind>:read`, `:write` or `:delete`. People with the roles of `givenBy` may give
   * tokens the scope without having the right themselves. With `field`: and the named field holds the id of the token.
   */
  | { readonly is: 'scope'; readonly field?: string; readonly givenBy?: readonly Role[] }
  /** The caller belongs to a group that may create records of this kind. */
  | { readonly is: 'creators' }
  /** The caller, or one of its groups, has one of these relations to the record; `grants` of the kinds declare who has them. */
  | { readonly is: 'related'; readonly relations: readonly string[] }
  /** The caller has the corresponding right (view for view; edit for create, edit and remove) to the record in the named field. */
  | { readonly is: 'through'; readonly field: string }
  /** The named reference, or field of `recordOf`, holds the id of a record that the caller cannot view. */
  | { readonly is: 'about-hidden'; readonly field: string };

/** An operation on records of a kind. */
export interface Asked {
  readonly kind: string;
  readonly operation: Operation;
}

export const allow = (when: Condition): Rule => ({ effect: 'allow', when });
export const deny = (when: Condition): Rule => ({ effect: 'deny', when });

export const anyone: Condition = { is: 'anyone' };
export const system: Condition = { is: 'system' };
export const signedIn: Condition = { is: 'signed-in' };
export const role = (...names: readonly Role[]): Condition => ({ is: 'role', roles: names });
export const roleIn = (field: string, ...names: readonly Role[]): Condition => ({ is: 'role-in', field, roles: names });
export const self = (field: string): Condition => ({ is: 'self', field });
export const memberOf = (field: string): Condition => ({ is: 'member-of', field });
export const scope: Condition = { is: 'scope' };
/** For what only programs do. */
export const scopeGivenBy = (...names: readonly Role[]): Condition => ({ is: 'scope', givenBy: names });
/** For records that belong to one API token, whose id the field holds. */
export const ownScope = (field: string, ...givenBy: readonly Role[]): Condition => ({ is: 'scope', field, givenBy });
export const creators: Condition = { is: 'creators' };
export const related = (...relations: readonly string[]): Condition => ({ is: 'related', relations });
export const through = (field: string): Condition => ({ is: 'through', field });
export const aboutHidden = (field: string): Condition => ({ is: 'about-hidden', field });

/** Whether rights to a kind's records are granted per record, so that its records are objects of the authorization store. */
export function hasObjectRights(policy: Policy | undefined): boolean {
  if (!policy) return false;
  const rules = [...policy.view, ...policy.edit, ...policy.remove];
  return rules.some(({ when }) => when.is === 'related' || when.is === 'through');
}

/** Reference fields whose target records pass rights to the record. */
export function passingFields(policy: Policy | undefined): readonly string[] {
  const rules = policy ? [...policy.view, ...policy.edit, ...policy.remove] : [];
  return [...new Set(rules.flatMap(({ when }) => (when.is === 'through' ? [when.field] : [])))];
}

/** The right to the target record that `through` requires for an operation. */
export function operationAbove(operation: Operation): 'view' | 'edit' {
  return operation === 'view' ? 'view' : 'edit';
}

/** Relations of an API token to the organization. Any of them suffices for the operation; stronger scopes imply weaker ones. */
export function scopeRelations({ kind, operation }: Asked): string[] {
  const enough = {
    view: ['view', 'edit', 'delete'],
    create: ['edit', 'delete'],
    edit: ['edit', 'delete'],
    remove: ['delete'],
  };
  return enough[operation].map((verb) => `can_${verb}_${snakeCase(kind)}`);
}

/** The relation to the organization that lets a group create records of a kind. */
export function creatorRelation(kind: string): string {
  return `${snakeCase(kind)}_creator`;
}

/** Evaluates a condition for a caller without a row. @returns undefined when the result depends on the row */
export function decideByCaller(condition: Condition, caller: Caller, asked: Asked): boolean | undefined {
  switch (condition.is) {
    case 'anyone':
      return true;
    case 'system':
      return callerKinds[caller.kind].databaseRole === 'system';
    case 'signed-in':
      return callerKinds[caller.kind].isPerson;
    case 'role':
      return caller.role !== null && condition.roles.includes(caller.role) && !isOutOfContext(caller, asked);
    case 'scope': {
      const isHeld =
        caller.kind === 'api_token' &&
        scopeRelations(asked).some((relation) => caller.relations.includes(relation)) &&
        !isOutOfContext(caller, asked);
      return isHeld && condition.field !== undefined ? undefined : isHeld;
    }
    case 'creators':
      return caller.relations.includes(creatorRelation(asked.kind)) && !isReadOnly(caller, asked);
    case 'role-in':
      return caller.role !== null && condition.roles.includes(caller.role) ? undefined : false;
    case 'self':
    case 'member-of':
      return caller.subjectId === null ? false : undefined;
    case 'about-hidden':
      return undefined;
    case 'related':
    case 'through':
      // API tokens have only the rights of their scopes, and a scope of one kind gives no right to its child records.
      return caller.subjectId === null || callerKinds[caller.kind].subjectType !== 'user' || isReadOnly(caller, asked)
        ? false
        : undefined;
    default:
      condition satisfies never;
      throw new Error(`unknown condition ${JSON.stringify(condition)}`);
  }
}

/** Whether the caller has a right to all records of a kind, whatever their values and relations. */
export function mayAll(policy: Policy | undefined, caller: Caller, asked: Asked): boolean {
  for (const { effect, when } of policy?.[asked.operation] ?? []) {
    const applies = decideByCaller(when, caller, asked);
    if (applies === undefined) return false;
    if (applies) return effect === 'allow';
  }
  return afterTheRules[asked.operation];
}

/** Auditors only read: neither relations to records nor groups or parent records give them a right to change any. */
export function isReadOnly({ role: held }: Pick<Caller, 'role'>, { operation }: Asked): boolean {
  return held === 'auditor' && operation !== 'view';
}

/**
 * Whether the records of a kind do not inherit rights from the organization (`authz.parentcontextskipkinds`). The right to create
 * is excepted: it is a relation to the organization itself, not to a record.
 */
export function isOutOfContext({ outOfContext }: Pick<Caller, 'outOfContext'>, { kind, operation }: Asked): boolean {
  return operation !== 'create' && outOfContext.includes(kind);
}

/** The result when no rule applies: queries are allowed, mutations rejected. */
export const afterTheRules = { view: true, create: false, edit: false, remove: false } as const satisfies Record<
  Operation,
  boolean
>;
