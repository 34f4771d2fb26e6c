import type { Caller, Role } from './caller.ts';
import { snakeCase } from '../base/snake-case.ts';

/**
 * Rules as data (specification, Authorization). They are evaluated in order and the first that applies decides; after
 * the last one queries are allowed and mutations refused. Because they are data, the same rule is a predicate inside a
 * compiled read and a check on a change set.
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
  /** The caller has one of these roles in the organization it acts in. */
  | { readonly is: 'role'; readonly roles: readonly Role[] }
  /** The named field holds the organization the caller acts in, and it has one of these roles there. */
  | { readonly is: 'role-in'; readonly field: string; readonly roles: readonly Role[] }
  /** The named field holds the caller's own subject id. */
  | { readonly is: 'self'; readonly field: string }
  /** The caller has a live membership in the organization whose id the named field holds. */
  | { readonly is: 'member-of'; readonly field: string }
  /** The caller is an API token that was given the scope for this: `<kind>:read`, `:write` or `:delete`. */
  | { readonly is: 'scope' }
  /** The caller belongs to a group that may create records of this kind. */
  | { readonly is: 'creators' }
  /** The caller, or a group of theirs, has one of these relations to the record: by the grants of the kinds. */
  | { readonly is: 'related'; readonly relations: readonly string[] }
  /** The caller may do the same (view: view; change and creation: edit) with the record that the named field refers to. */
  | { readonly is: 'through'; readonly field: string };

/** What is asked of a caller: which operation, on records of which kind. */
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
export const creators: Condition = { is: 'creators' };
export const related = (...relations: readonly string[]): Condition => ({ is: 'related', relations });
export const through = (field: string): Condition => ({ is: 'through', field });

/** Whether rights on a kind's records are given record by record, so that the authorization store knows its records. */
export function hasObjectRights(policy: Policy | undefined): boolean {
  if (!policy) return false;
  const rules = [...policy.view, ...policy.edit, ...policy.remove];
  return rules.some(({ when }) => when.is === 'related' || when.is === 'through');
}

/** References whose records pass rights down. */
export function passingFields(policy: Policy | undefined): readonly string[] {
  const rules = policy ? [...policy.view, ...policy.edit, ...policy.remove] : [];
  return [...new Set(rules.flatMap(({ when }) => (when.is === 'through' ? [when.field] : [])))];
}

/** The operation on the record referred to that `through` means. */
export function operationAbove(operation: Operation): 'view' | 'edit' {
  return operation === 'view' ? 'view' : 'edit';
}

/** Relations to the organization of which one lets an API token do this; more includes less. */
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

/**
 * What a condition is worth for this caller without looking at a row.
 * @returns true or false when the caller alone decides, undefined when the row must be asked.
 */
export function decideByCaller(condition: Condition, caller: Caller, asked: Asked): boolean | undefined {
  switch (condition.is) {
    case 'anyone':
      return true;
    case 'system':
      return caller.kind === 'system';
    case 'signed-in':
      return caller.kind === 'user' || caller.kind === 'support';
    case 'role':
      return caller.role !== null && condition.roles.includes(caller.role) && !isOutOfContext(caller, asked);
    case 'scope':
      return (
        caller.kind === 'api_token' &&
        scopeRelations(asked).some((relation) => caller.relations.includes(relation)) &&
        !isOutOfContext(caller, asked)
      );
    case 'creators':
      return caller.relations.includes(creatorRelation(asked.kind));
    case 'role-in':
      return caller.role !== null && condition.roles.includes(caller.role) ? undefined : false;
    case 'self':
    case 'member-of':
      return caller.subjectId === null ? false : undefined;
    case 'related':
    case 'through':
      // Tokens do what their scopes say, kind by kind: a right on one kind is none on what hangs on it.
      return caller.subjectId === null || caller.kind === 'api_token' ? false : undefined;
    default:
      condition satisfies never;
      throw new Error(`unknown condition ${JSON.stringify(condition)}`);
  }
}

/**
 * What a caller has in the organization says nothing about records of such a kind (`authz.parentcontextskipkinds`). Who may
 * create them the organization says by itself: there is no record yet that could be tied to it.
 */
function isOutOfContext({ outOfContext }: Caller, { kind, operation }: Asked): boolean {
  return operation !== 'create' && outOfContext.includes(kind);
}

/** The fall-through after the rules: queries are allowed, mutations refused. */
export const afterTheRules = { view: true, create: false, edit: false, remove: false } as const satisfies Record<
  Operation,
  boolean
>;
