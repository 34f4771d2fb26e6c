import { roles } from './caller.ts';
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
import { subjectRelations, type Tuple } from './tuples.ts';

/** Who has a relation. */
export type Rewrite =
  /** Whom a tuple names. */
  | { readonly is: 'direct' }
  /** Who has another relation to the same object. */
  | { readonly is: 'computed'; readonly relation: string }
  /** Who has a relation to an object that this one points to. */
  | { readonly is: 'from'; readonly relation: string; readonly tupleset: string }
  | { readonly is: 'union'; readonly of: readonly Rewrite[] }
  | { readonly is: 'difference'; readonly base: Rewrite; readonly subtract: Rewrite };

/** A type of subject that tuples may name, or everybody who has a relation to one. */
export interface SubjectType {
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

/** The relation of an object to its organization; it travels with each question (authorization-question.ts). */
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

const ownRelations = new WeakMap<Registry, ReadonlySet<string>>();

/** Whether a tuple is about a relation of the derived model; others belong to what an installation's own model adds. */
export function isOwnTuple(registry: Registry, { object, relation }: Tuple): boolean {
  const own =
    ownRelations.get(registry) ??
    new Set(deriveModel(registry).flatMap((type) => type.relations.map(({ name }) => `${type.name}#${name}`)));
  ownRelations.set(registry, own);
  return own.has(`${object.slice(0, object.indexOf(':'))}#${relation}`);
}

/**
 * The authorization model, derived from the rules and grants of the entity modules: people and API tokens, the organization
 * with its roles, scopes and rights to create, and a type for each kind whose rights are given record by record.
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
    given('parent', [{ type: 'organization' }]),
    // Roles in an organization are roles in those that are part of it.
    ...roles.map((name) => given(name, [user], from(name, 'parent'))),
    { name: subjectRelations.organization, rewrite: union(roles.map(computed)), direct: [] },
    ...modules.flatMap((module) => {
      const asked = (operation: Operation) => scopeRelations({ kind: module.kind, operation })[0] as string;
      const [view, edit, remove] = [asked('view'), asked('edit'), asked('remove')];
      const relations: ModelRelation[] = [];
      if (names(module, 'creators')) {
        relations.push(given(creatorRelation(module.kind), [{ type: 'group', relation: subjectRelations.group }]));
      }
      if (names(module, 'scope')) {
        relations.push(given(remove, [service]), given(edit, [service], computed(remove)));
        relations.push(given(view, [service], computed(edit)));
      }
      const create = creation(module, edit);
      return create ? [...relations, { name: `can_create_${module.topic}`, rewrite: create, direct: [] }] : relations;
    }),
  ];
}

function names(module: EntityModule, condition: Condition['is']): boolean {
  return Object.values(module.policy ?? {}).some((rules: readonly Rule[]) =>
    rules.some(({ when }) => when.is === condition),
  );
}

/** Who may create records of a kind in an organization, as far as the organization says it. */
function creation(module: EntityModule, editScope: string): Rewrite | undefined {
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
    const given =
      typeof grant.relation === 'string' ? [grant.relation] : (granter.fields[grant.relation.field]?.values ?? []);
    for (const name of given) {
      const known = subjects.get(name) ?? new Map<string, SubjectType>();
      subjects.set(name, known.set(`${subject.type}#${relation}`, subject));
    }
  }
  return [
    given(parentContext, [{ type: 'organization' }]),
    ...passingFields(policy).map((field) =>
      given(referenceRelation(field), [{ type: references.targetOf(module, field).topic }]),
    ),
    ...[...subjects].map(([name, types]) => given(name, [...types.values()])),
    ...operations.flatMap((operation): ModelRelation[] => {
      const rewrite = decision(module, operation, policy[operation]);
      return rewrite ? [{ name: decidingRelation[operation], rewrite, direct: [] }] : [];
    }),
  ];
}

/** The rules of an operation in their order: the first that applies decides. */
function decision(
  module: EntityModule,
  operation: Exclude<Operation, 'create'>,
  rules: readonly Rule[],
): Rewrite | undefined {
  const [rule, ...rest] = rules;
  if (!rule || (rule.when.is === 'anyone' && rule.effect === 'deny')) return undefined;
  const otherwise = decision(module, operation, rest);
  const applies = conditions(module, operation, rule.when);
  if (applies.length === 0) return otherwise;
  if (rule.effect === 'allow')
    return union([...applies, ...(otherwise?.is === 'union' ? otherwise.of : otherwise ? [otherwise] : [])]);
  return otherwise && { is: 'difference', base: otherwise, subtract: union(applies) };
}

function conditions(module: EntityModule, operation: Exclude<Operation, 'create'>, condition: Condition): Rewrite[] {
  switch (condition.is) {
    case 'role':
      return condition.roles.map((name) => from(name, parentContext));
    case 'scope':
      return [from(scopeRelations({ kind: module.kind, operation })[0] as string, parentContext)];
    case 'related':
      return condition.relations.map(computed);
    case 'through':
      return [from(decidingRelation[operationAbove(operation)], referenceRelation(condition.field))];
    // The server itself never asks.
    case 'system':
      return [];
    case 'anyone':
    case 'signed-in':
    case 'role-in':
    case 'self':
    case 'member-of':
    case 'creators':
      throw new TypeError(`entity "${module.kind}": the authorization store cannot decide "${condition.is}"`);
    default:
      condition satisfies never;
      throw new Error('unknown condition');
  }
}

function given(name: string, direct: readonly SubjectType[], ...more: readonly Rewrite[]): ModelRelation {
  return { name, direct, rewrite: union([{ is: 'direct' }, ...more]) };
}

const computed = (relation: string): Rewrite => ({ is: 'computed', relation });
const from = (relation: string, tupleset: string): Rewrite => ({ is: 'from', relation, tupleset });

function union(of: readonly Rewrite[]): Rewrite {
  const [only] = of;
  return of.length === 1 && only ? only : { is: 'union', of };
}

/** The model in the store's own language (schema 1.1), as it is checked in. */
export function printModel(types: readonly ModelType[]): string {
  const lines = ['model', '  schema 1.1'];
  for (const type of types) {
    lines.push('', `type ${type.name}`);
    if (type.relations.length > 0) lines.push('  relations');
    for (const relation of type.relations)
      lines.push(`    define ${relation.name}: ${printed(relation.rewrite, relation)}`);
  }
  return `${lines.join('\n')}\n`;
}

function printed(rewrite: Rewrite, { direct }: ModelRelation): string {
  const inner = (part: Rewrite): string => {
    const text = printed(part, { name: '', rewrite: part, direct });
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
