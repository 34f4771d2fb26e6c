import { roles } from './caller.ts';
import { onceForEach } from '../base/once-for-each.ts';
import type { EntityModule } from './define.ts';
import {
  creatorRelation,
  hasObjectRights,
  operationAbove,
  passingFields,
  scopeRelations,
  type Condition,
  type Operation,
  type Rule,
} from './policy.ts';
import type { ReferenceIndex } from './reference-index.ts';
import type { Registry } from './registry.ts';
import { snakeCase } from '../base/snake-case.ts';
import { relationNames, subjectRelations, type Tuple } from './tuples.ts';

/** How the subjects of a relation are found (an OpenFGA userset rewrite). */
export type Rewrite =
  /** The subjects that tuples name. */
  | { readonly is: 'direct' }
  /** The subjects that have another relation to the same object. */
  | { readonly is: 'computed'; readonly relation: string }
  /** The subjects that have a relation to an object which the tupleset of this object names. */
  | { readonly is: 'from'; readonly relation: string; readonly tupleset: string }
  | { readonly is: 'union'; readonly of: readonly Rewrite[] }
  | { readonly is: 'difference'; readonly base: Rewrite; readonly subtract: Rewrite };

/** A type of subject that tuples may name: its objects, or with `relation` the subjects that have that relation to one of them. */
interface SubjectType {
  readonly type: string;
  readonly relation?: string;
}

export interface ModelRelation {
  readonly name: string;
  readonly rewrite: Rewrite;
  /** Subjects that tuples of this relation may name. */
  readonly direct: readonly SubjectType[];
}

export interface ModelType {
  readonly name: string;
  readonly relations: readonly ModelRelation[];
}

/** The relation of an object to its organization, sent as a contextual tuple with each check (access/check-request.ts). */
export const parentContext = 'parent_context';

/** The relation that decides an operation on one record. */
export const decidingRelation = {
  view: 'can_view',
  edit: 'can_edit',
  remove: 'can_delete',
} as const satisfies Record<Exclude<Operation, 'create'>, string>;

/** The relation of a record to the one that a reference names. */
export function referenceRelation(field: string): string {
  return snakeCase(field.replace(/Id$/, ''));
}

const ownRelations = onceForEach(
  (registry: Registry): ReadonlySet<string> =>
    new Set(deriveModel(registry).flatMap((type) => type.relations.map(({ name }) => `${type.name}#${name}`))),
);

/** Whether a tuple's relation is part of the derived model; an installation can add types and relations of its own to the model. */
export function isOwnTuple(registry: Registry, { object, relation }: Tuple): boolean {
  return ownRelations(registry).has(`${object.slice(0, object.indexOf(':'))}#${relation}`);
}

/**
 * The authorization model, derived from the rules and grants of the kinds: users and API tokens (`service`), the organization
 * with its roles, scopes and creation rights, and a type for each kind whose rights are granted per record.
 */
export function deriveModel(registry: Registry): ModelType[] {
  const objects = registry.modules.filter(({ policy }) => hasObjectRights(policy));
  return [
    { name: 'user', relations: [] },
    { name: 'service', relations: [] },
    { name: 'organization', relations: organizationRelations(registry.modules) },
    ...objects.map((module) => ({ name: module.topic, relations: objectRelations(module, registry.references) })),
  ];
}

function organizationRelations(modules: readonly EntityModule[]): ModelRelation[] {
  const user = { type: 'user' };
  const service = { type: 'service' };
  return [
    assignable('parent', [{ type: 'organization' }]),
    // A role in an organization is also a role in its child organizations.
    ...roles.map((name) => assignable(name, [user], from(name, 'parent'))),
    { name: subjectRelations.organization, rewrite: union(roles.map(computed)), direct: [] },
    ...modules.flatMap((module) => {
      const scopeRelation = (operation: Operation) => scopeRelations({ kind: module.kind, operation })[0] as string;
      const [view, edit, remove] = [scopeRelation('view'), scopeRelation('edit'), scopeRelation('remove')];
      const relations: ModelRelation[] = [];
      if (usesCondition(module, 'creators')) {
        relations.push(assignable(creatorRelation(module.kind), [{ type: 'group', relation: subjectRelations.group }]));
      }
      if (usesCondition(module, 'scope')) {
        relations.push(assignable(remove, [service]), assignable(edit, [service], computed(remove)));
        relations.push(assignable(view, [service], computed(edit)));
      }
      const create = createRewrite(module, edit);
      return create ? [...relations, { name: `can_create_${module.topic}`, rewrite: create, direct: [] }] : relations;
    }),
  ];
}

function usesCondition(module: EntityModule, condition: Condition['is']): boolean {
  return Object.values(module.policy ?? {}).some((rules: readonly Rule[]) =>
    rules.some(({ when }) => when.is === condition),
  );
}

/** The subjects that may create records of a kind in an organization because of their relations to it. */
function createRewrite(module: EntityModule, editScope: string): Rewrite | undefined {
  const allowed = (module.policy?.create ?? []).flatMap(({ effect, when }): Rewrite[] => {
    if (effect === 'deny') return [];
    if (when.is === 'role') return when.roles.map(computed);
    if (when.is === 'creators') return [computed(creatorRelation(module.kind))];
    return when.is === 'scope' ? [computed(editScope)] : [];
  });
  return allowed.length > 0 ? union(allowed) : undefined;
}

function objectRelations(module: EntityModule, references: ReferenceIndex): ModelRelation[] {
  const policy = module.policy;
  if (!policy) return [];
  const operations = ['view', 'edit', 'remove'] as const;
  const subjects = new Map<string, Map<string, SubjectType>>();
  for (const { module: granter, grant } of references.grantersOf(module)) {
    const relation = subjectRelations[grant.subject.kind];
    const subject: SubjectType = { type: grant.subject.kind, ...(relation === '' ? {} : { relation }) };
    for (const name of relationNames(grant, granter.fields)) {
      const known = subjects.get(name) ?? new Map<string, SubjectType>();
      subjects.set(name, known.set(`${subject.type}#${relation}`, subject));
    }
  }
  return [
    assignable(parentContext, [{ type: 'organization' }]),
    ...passingFields(policy).map((field) =>
      assignable(referenceRelation(field), [{ type: references.targetOf(module, field).topic }]),
    ),
    ...[...subjects].map(([name, types]) => assignable(name, [...types.values()])),
    ...operations.flatMap((operation): ModelRelation[] => {
      const rewrite = decisionRewrite(module, operation, policy[operation]);
      return rewrite ? [{ name: decidingRelation[operation], rewrite, direct: [] }] : [];
    }),
  ];
}

/** Translates the rules of an operation; the first rule that applies decides. */
function decisionRewrite(
  module: EntityModule,
  operation: Exclude<Operation, 'create'>,
  rules: readonly Rule[],
): Rewrite | undefined {
  const [rule, ...rest] = rules;
  if (!rule || (rule.when.is === 'anyone' && rule.effect === 'deny')) return undefined;
  const otherwise = decisionRewrite(module, operation, rest);
  const applies = conditionRewrites(module, operation, rule.when);
  if (applies.length === 0) return otherwise;
  if (rule.effect === 'allow')
    return union([...applies, ...(otherwise?.is === 'union' ? otherwise.of : otherwise ? [otherwise] : [])]);
  return otherwise && { is: 'difference', base: otherwise, subtract: union(applies) };
}

function conditionRewrites(
  module: EntityModule,
  operation: Exclude<Operation, 'create'>,
  condition: Condition,
): Rewrite[] {
  switch (condition.is) {
    case 'role':
      return condition.roles.map((name) => from(name, parentContext));
    case 'scope':
      // The row decides before the store is asked (decision.ts).
      if (condition.field !== undefined) return [];
      return [from(scopeRelations({ kind: module.kind, operation })[0] as string, parentContext)];
    case 'related':
      return condition.relations.map(computed);
    case 'through':
      return [from(decidingRelation[operationAbove(operation)], referenceRelation(condition.field))];
    // System callers are never checked in the authorization store.
    case 'system':
      return [];
    case 'anyone':
    case 'signed-in':
    case 'role-in':
    case 'self':
    case 'member-of':
    case 'about-hidden':
    case 'creators':
      throw new TypeError(`entity "${module.kind}": the authorization store cannot decide "${condition.is}"`);
    default:
      condition satisfies never;
      throw new Error('unknown condition');
  }
}

function assignable(name: string, direct: readonly SubjectType[], ...more: readonly Rewrite[]): ModelRelation {
  return { name, direct, rewrite: union([{ is: 'direct' }, ...more]) };
}

const computed = (relation: string): Rewrite => ({ is: 'computed', relation });
const from = (relation: string, tupleset: string): Rewrite => ({ is: 'from', relation, tupleset });

function union(of: readonly Rewrite[]): Rewrite {
  const [only] = of;
  return of.length === 1 && only ? only : { is: 'union', of };
}

/** The model in OpenFGA's language (schema 1.1), as in the checked-in `authorization.fga`. */
export function printModel(types: readonly ModelType[]): string {
  const lines = ['model', '  schema 1.1'];
  for (const type of types) {
    lines.push('', `type ${type.name}`);
    if (type.relations.length > 0) lines.push('  relations');
    for (const relation of type.relations)
      lines.push(`    define ${relation.name}: ${printRewrite(relation.rewrite, relation)}`);
  }
  return `${lines.join('\n')}\n`;
}

function printRewrite(rewrite: Rewrite, { direct }: ModelRelation): string {
  const inner = (part: Rewrite): string => {
    const text = printRewrite(part, { name: '', rewrite: part, direct });
    return part.is === 'union' || part.is === 'difference' ? `(${text})` : text;
  };
  switch (rewrite.is) {
    case 'direct':
      return `[${direct.map(({ type, relation }) => (relation ? `${type}#${relation}` : type)).join(', ')}]`;
    case 'computed':
      return rewrite.relation;
    case 'from':
      return `${rewrite.relation} from ${rewrite.tupleset}`;
    case 'union':
      return rewrite.of.map(inner).join(' or ');
    case 'difference':
      return `${inner(rewrite.base)} but not ${inner(rewrite.subtract)}`;
    default:
      rewrite satisfies never;
      throw new Error('unknown rewrite');
  }
}
