import type { Caller, Role } from './caller.ts';

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
  | { readonly is: 'signed-in' }
  /** The caller has one of these roles in the organization it acts in. */
  | { readonly is: 'role'; readonly roles: readonly Role[] }
  /** The named field holds the organization the caller acts in, and it has one of these roles there. */
  | { readonly is: 'role-in'; readonly field: string; readonly roles: readonly Role[] }
  /** The named field holds the caller's own subject id. */
  | { readonly is: 'self'; readonly field: string }
  /** The caller has a live membership in the organization whose id the named field holds. */
  | { readonly is: 'member-of'; readonly field: string };

export const allow = (when: Condition): Rule => ({ effect: 'allow', when });
export const deny = (when: Condition): Rule => ({ effect: 'deny', when });

export const anyone: Condition = { is: 'anyone' };
export const system: Condition = { is: 'system' };
export const signedIn: Condition = { is: 'signed-in' };
export const role = (...names: readonly Role[]): Condition => ({ is: 'role', roles: names });
export const roleIn = (field: string, ...names: readonly Role[]): Condition => ({ is: 'role-in', field, roles: names });
export const self = (field: string): Condition => ({ is: 'self', field });
export const memberOf = (field: string): Condition => ({ is: 'member-of', field });

/**
 * What a condition is worth for this caller without looking at a row.
 * @returns true or false when the caller alone decides, undefined when the row must be asked.
 */
export function decideByCaller(condition: Condition, caller: Caller): boolean | undefined {
  switch (condition.is) {
    case 'anyone':
      return true;
    case 'system':
      return caller.kind === 'system';
    case 'signed-in':
      return caller.subjectId !== null;
    case 'role':
      return caller.role !== null && condition.roles.includes(caller.role);
    case 'role-in':
      return caller.role !== null && condition.roles.includes(caller.role) ? undefined : false;
    case 'self':
    case 'member-of':
      return caller.subjectId === null ? false : undefined;
    default:
      condition satisfies never;
      throw new Error(`unknown condition ${JSON.stringify(condition)}`);
  }
}

/** The fall-through after the rules: queries are allowed, mutations refused. */
export const afterTheRules = { view: true, create: false, edit: false, remove: false } as const satisfies Record<
  Operation,
  boolean
>;
