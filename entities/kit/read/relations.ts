import { tenancyField, type EntityModule } from '../model/define.ts';
import { actorReferences, entryFields } from '../model/derived/history-kind.ts';
import { linksOf } from '../model/links.ts';
import { isExposed, readableFields } from '../model/exposure.ts';
import type { Registry } from '../model/registry.ts';
import { inWords, inWordsCapitalized } from '../base/snake-case.ts';

/** A relation from one record to others. */
export type Relation = ToOne | ToMany;

export interface ToOne {
  readonly is: 'one';
  readonly name: string;
  readonly description: string;
  /** Field of this record that holds the id. */
  readonly field: string;
  readonly target: EntityModule;
}

export interface ToMany {
  readonly is: 'many';
  readonly name: string;
  readonly description: string;
  /** Field of the other records that holds this record's id. */
  readonly field: string;
  readonly target: EntityModule;
  /** The kind of the links between both (model/derived/join.ts), with the fields for this record and for the others; `field` is then the id. */
  readonly via?: { readonly module: EntityModule; readonly own: string; readonly other: string };
}

/**
 * All relations of a kind, by name: to the target of each of its references, and to the records of each kind that refers to it,
 * named by `reverse` or the plural of that kind, and to linked
 * records. References that are not exposed have no relation.
 */
export function relationsOf(registry: Registry, module: EntityModule): ReadonlyMap<string, Relation> {
  const known = cache.get(registry) ?? { referrers: referrersIn(registry), relations: new Map() };
  cache.set(registry, known);
  const relations = known.relations.get(module.kind) ?? findRelations(registry, module, known.referrers);
  known.relations.set(module.kind, relations);
  return relations;
}

/** The relation to the proposals about the records of a kind (model/derived/proposal.ts); undefined for a kind that workflows do not know. */
export function proposalsOf(registry: Registry, module: EntityModule): Relation | undefined {
  return module.automation && relationsOf(registry, module).get('proposals');
}

interface KnownRelations {
  readonly referrers: ReadonlyMap<string, readonly Referrer[]>;
  readonly relations: Map<string, ReadonlyMap<string, Relation>>;
}

const cache = new WeakMap<Registry, KnownRelations>();

/** A kind, and its reference to another one. */
interface Referrer extends Reference {
  readonly module: EntityModule;
}

/** The exposed references of all kinds, by target kind. They are collected once per registry, not once per kind. */
function referrersIn(registry: Registry): ReadonlyMap<string, readonly Referrer[]> {
  const referrers = new Map<string, Referrer[]>(registry.modules.map(({ kind }) => [kind, []]));
  for (const module of registry.modules)
    for (const reference of referencesOf(registry, module))
      referrers.get(reference.target.kind)?.push({ ...reference, module });
  return referrers;
}

function findRelations(
  registry: Registry,
  module: EntityModule,
  referrers: KnownRelations['referrers'],
): ReadonlyMap<string, Relation> {
  const relations = new Map<string, Relation>();
  for (const { field, target, description } of referencesOf(registry, module)) {
    const name = field.replace(/Id$/, '');
    relations.set(name, { is: 'one', name, field, target, description });
  }
  for (const { module: other, field, reverse } of referrers.get(module.kind) ?? []) {
    const name = reverse ?? pluralOf(other);
    if (relations.has(name) || Object.hasOwn(module.fields, name))
      throw new TypeError(`entity "${module.kind}" has two relations called "${name}"`);
    const description = `${inWordsCapitalized(other.table)} whose ${inWords(field.replace(/Id$/, ''))} is this record.`;
    relations.set(name, { is: 'many', name, field, target: other, description });
  }
  for (const { through, own, other, target } of linksOf(registry, module)) {
    const name = other.listed;
    if (relations.has(name)) throw new TypeError(`entity "${module.kind}" has two relations called "${name}"`);
    const description = `${inWordsCapitalized(target.table)} that are linked with this record.`;
    const via = { module: through, own: own.field, other: other.field };
    relations.set(name, { is: 'many', name, field: 'id', target, description, via });
  }
  return relations;
}

/** `organizationSettings` for the table `organization_settings`. */
export function pluralOf(module: EntityModule): string {
  return module.table.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

interface Reference {
  readonly field: string;
  readonly target: EntityModule;
  readonly description: string;
  readonly reverse?: string;
}

function referencesOf(registry: Registry, module: EntityModule): Reference[] {
  if (module.historyOf) return actorsOf(registry);
  // Kinds without exposed fields are hidden.
  if (!isExposed(module)) return [];
  const declared = readableFields(module).flatMap(([name, { target, description, reverse }]): Reference[] =>
    target ? [{ field: name, target: registry.byKind(target), description, ...(reverse ? { reverse } : {}) }] : [],
  );
  const owner = tenancyField(module.tenancy).map((field) => {
    const target = registry.byKind(field.replace(/Id$/, ''));
    return { field, target, description: `${inWordsCapitalized(target.kind)} that the record belongs to.` };
  });
  return [...owner, ...declared];
}

/** Author of the change of a history entry. */
function actorsOf(registry: Registry): Reference[] {
  return Object.entries(actorReferences).flatMap(([field, kind]) => {
    const target = registry.modules.find((module) => module.kind === kind);
    return target
      ? [{ field, target, description: entryFields[field as keyof typeof actorReferences].description }]
      : [];
  });
}
