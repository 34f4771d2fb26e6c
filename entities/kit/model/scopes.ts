import { didYouMean } from '../base/did-you-mean.ts';
import { AppError, type FieldProblem } from '../base/errors.ts';
import { inputError } from '../base/input-error.ts';
import { onceForEach } from '../base/once-for-each.ts';
import { found } from '../base/schema-problem.ts';
import { snakeCase } from '../base/snake-case.ts';
import { callerKinds, type Caller, type VisitorKind } from './caller.ts';
import type { EntityModule } from './define.ts';
import { isExposed } from './exposure.ts';
import { reachByRules } from './reach.ts';
import { afterTheRules, decideByCaller, scopeRelations, type Asked, type Operation, type Rule } from './policy.ts';
import type { Registry } from './registry.ts';
import { relationsOfScopes, scopeVerbs, type ScopeVerb } from './scope-relations.ts';

/** The operations that a scope allows besides those of the one before it. */
const operationsOf = {
  read: ['view'],
  write: ['create', 'edit'],
  delete: ['remove'],
} as const satisfies Record<ScopeVerb, readonly Operation[]>;

/**
 * An API token has the rights of its scopes; a personal token has those rights of its person that are within its scopes. An endpoint has
 * scopes as API tokens have them, and learns of further kinds without reading their records (`announced`).
 */
type ScopeHolder = TokenSort | 'endpoint';

export type TokenSort = 'api' | 'personal';

/** The weakest scope that allows an operation. */
export function scopeFor({ kind, operation }: Asked): string {
  return `${snakeCase(kind)}:${scopeVerbFor(operation)}`;
}

export function scopeVerbFor(operation: Operation): ScopeVerb {
  return scopeVerbs.find((name) => operationsOf[name].some((allowed) => allowed === operation)) as ScopeVerb;
}

/** Whether the caller is a token, or somebody who acts as somebody else: not a person who is signed in themselves. */
export function isLimited({ kind, limits }: Pick<Caller, 'kind' | 'limits'>): boolean {
  return kind === 'api_token' || limits !== null;
}

/** Whether the credential of a caller allows an operation on records of a kind; true for callers whose credential has no limits. */
export function isWithinLimits({ kind, limits }: Pick<Caller, 'kind' | 'limits'>, asked: Asked): boolean {
  if (limits === null) return !callerKinds[kind].needsLimits;
  return scopeRelations(asked).some((relation) => limits.includes(relation));
}

/**
 * The limits of whoever acts as somebody else: they reach what tokens reach, and only view people and organizations, which belong to no
 * organization, what is the member's own, and what gives rights to other records: such rights would outlive the access
 * (write/lasting-rights.ts has the rest).
 */
export const limitsOfDelegates = ofEachRegistry(({ modules }) =>
  modules.flatMap((module) =>
    scopeVerbs
      .filter((verb) => isOpenToTokens(module, verb) && isOpenToDelegates(module, verb, modules))
      .map((verb) => `${module.topic}:${verb}`),
  ),
);

function isOpenToDelegates(module: EntityModule, verb: ScopeVerb, modules: readonly EntityModule[]): boolean {
  const { kind, tenancy, grants = [], closedToDelegates } = module;
  if (closedToDelegates === true || (closedToDelegates && verb !== 'read')) return false;
  if (verb === 'read') return true;
  if (tenancy !== 'organization' || grants.some(({ object }) => object.id !== 'id')) return false;
  if (isOfOnePerson(module)) return false;
  // With a group, the records that block it are deleted.
  const isSubject = modules.some((other) => other.grants?.some(({ subject }) => subject.kind === kind));
  return verb !== 'delete' || !isSubject;
}

/** Whether records are a person's own: what they have made for themselves, such as preferences, and what they alone change. */
function isOfOnePerson({ fields, policy }: EntityModule): boolean {
  if (Object.values(fields).some(({ creator, onLeave }) => creator && onLeave === 'cascade')) return true;
  const changers = (policy?.edit ?? []).map(({ when }) => when.is);
  return changers.includes('self') && changers.every((is) => is === 'self' || is === 'system');
}

/** The limits of visitors: kinds that are not open to them do not exist for them, whatever their rules say. */
export function limitsOfVisitors({ modules }: Registry, visitor: VisitorKind): string[] {
  const open = modules.filter(({ openTo = [] }) => openTo.includes(visitor));
  return relationsOfScopes(open.flatMap(({ topic }) => scopeVerbs.map((verb) => `${topic}:${verb}`)));
}

/** Relations of scopes that are the same for all callers are made once. */
function ofEachRegistry(scopes: (registry: Registry) => string[]): (registry: Registry) => readonly string[] {
  return onceForEach((registry: Registry) => relationsOfScopes(scopes(registry)));
}

/** Whether tokens reach records of a kind. Kinds with which people prove their identity, or manage tokens, are open only to themselves. */
export function isOpenToTokens(module: EntityModule, verb: ScopeVerb = 'read'): boolean {
  const { tenancy, needsSession, deletionNeedsProof = false } = module;
  if (!isExposed(module) || tenancy === 'user' || needsSession === true) return false;
  if (verb === 'delete' && deletionNeedsProof) return false;
  return verb === 'read' || needsSession === undefined;
}

/**
 * Scopes that a token can have: those for which the rules of the kind know such a token, or for personal tokens its person.
 * @param by gives the token no right that they do not have on all records of the kind
 */
export function offeredScopes(registry: Registry, sort: ScopeHolder, by?: Caller): string[] {
  return registry.modules.flatMap((module) => {
    const offered = scopeVerbs.filter((verb) => {
      if (sort === 'endpoint' && verb === 'read' && mayAnnounce(module, by)) return true;
      if (!isOpenToTokens(module, verb)) return false;
      if (sort === 'personal') return operationsOf[verb].some((operation) => knowsPeople(module, operation));
      const own = operationsOf[verb].filter((operation) => knowsTokens(module, operation));
      return own.length > 0 && (by === undefined || mayAllUpTo(registry, module, by, verb));
    });
    return offered.map((verb) => `${module.topic}:${verb}`);
  });
}

/** Whether a person lets endpoints learn of a kind whose records they do not read; without a person, whether anybody does. */
function mayAnnounce({ announced }: EntityModule, by?: Caller): boolean {
  return announced !== undefined && (by === undefined || (by.role !== null && announced.by.includes(by.role)));
}

function knowsTokens({ policy }: EntityModule, operation: Operation): boolean {
  return policy?.[operation].some(({ when }) => when.is === 'scope') ?? false;
}

function knowsPeople({ policy }: EntityModule, operation: Operation): boolean {
  const isOfPeople = ({ effect, when }: Rule) => effect === 'allow' && when.is !== 'system' && when.is !== 'scope';
  return afterTheRules[operation] || (policy?.[operation].some(isOfPeople) ?? false);
}

/** Whether a caller has all rights, on all records of a kind, that a token with the scope has. */
function mayAllUpTo(registry: Registry, module: EntityModule, caller: Caller, verb: ScopeVerb): boolean {
  return scopeVerbs
    .slice(0, scopeVerbs.indexOf(verb) + 1)
    .flatMap((each): readonly Operation[] => operationsOf[each])
    .filter((operation) => knowsTokens(module, operation))
    .every((operation) => mayAllRecords(registry, module, caller, operation));
}

/** Whether the rules allow a caller an operation on all records of a kind, or let the caller give it to programs (`scopeGivenBy`). */
function mayAllRecords(registry: Registry, module: EntityModule, caller: Caller, operation: Operation): boolean {
  const reach = reachByRules(registry, module, operation, (when, asked) => {
    if (when.is === 'scope' && caller.role !== null && when.givenBy?.includes(caller.role)) return true;
    return decideByCaller(when, caller, asked);
  });
  return reach === 'all';
}

/** @throws AppError invalid_input for scopes that tokens of this sort cannot have */
export function refuseUnknownScopes(registry: Registry, sort: ScopeHolder, scopes: readonly string[]): void {
  const problems = unknownScopes(registry, sort, scopes);
  if (problems.length > 0) throw inputError(problems);
}

const scopeForm =
  'Scopes are the topic of a kind, a colon, and read, write or delete, each of which includes those before it:';

/** A problem for each scope that is none of these tokens. */
export function unknownScopes(registry: Registry, sort: ScopeHolder, scopes: readonly string[]): FieldProblem[] {
  const known = offeredScopes(registry, sort);
  const wrong = scopes.flatMap((scope, index) => (known.includes(scope) ? [] : [{ scope, path: `/scopes/${index}` }]));
  return wrong.map(({ scope, path }, index) => {
    const near = didYouMean(scope, known);
    const message = `is not a scope that can be given here${found(scope)}${near === undefined ? '' : ` (did you mean "${near}"?)`}`;
    // The list can be long, so it is there once.
    return { path, message: index === 0 ? `${message}. ${scopeForm} ${known.join(', ')}` : message };
  });
}

/**
 * The holder of the secret of an API token has its rights.
 * @throws AppError permission_denied for scopes that go beyond the rights of the caller
 */
export function refuseScopesBeyond(
  registry: Registry,
  sort: 'api' | 'endpoint',
  scopes: readonly string[],
  caller: Caller,
): void {
  const own = offeredScopes(registry, sort, caller);
  const beyond = scopes.filter((scope) => !own.includes(scope));
  if (beyond.length > 0)
    throw new AppError(
      'permission_denied',
      `${sort === 'api' ? 'An API token' : 'An endpoint'} cannot have rights that you do not have on all records of a kind: ${beyond.join(', ')}.`,
    );
}
