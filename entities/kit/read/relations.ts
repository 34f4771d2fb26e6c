import { tenancyField, type EntityModule } from '../model/define.ts';
import { isExposed, readableFields } from '../model/exposure.ts';
import type { Registry } from '../model/registry.ts';
import { inWords, inWordsCapitalized } from '../base/snake-case.ts';

/** A way from one record to others. */
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
}

/**
 * All relations of a kind, by name: what its own references point to, and the kinds that refer to it under their plural.
 * References that are not exposed are no way to anywhere.
 */
export function relationsOf(registry: Registry, module: EntityModule): ReadonlyMap<string, Relation> {
  const known = cache.get(registry) ?? new Map<string, ReadonlyMap<string, Relation>>();
  cache.set(registry, known);
  const relations = known.get(module.kind) ?? findRelations(registry, module);
  known.set(module.kind, relations);
  return relations;
}

const cache = new WeakMap<Registry, Map<string, ReadonlyMap<string, Relation>>>();

function findRelations(registry: Registry, module: EntityModule): ReadonlyMap<string, Relation> {
  const relations = new Map<string, Relation>();
  for (const { field, target, description } of referencesOf(registry, module)) {
    const name = field.replace(/Id$/, '');
    relations.set(name, { is: 'one', name, field, target, description });
  }
  for (const other of registry.modules) {
    for (const { field, target, reverse } of referencesOf(registry, other)) {
      if (target.kind !== module.kind) continue;
      const name = reverse ?? pluralOf(other);
      if (relations.has(name) || Object.hasOwn(module.fields, name))
        throw new TypeError(`entity "${module.kind}" has two ways that are called "${name}"`);
      const description = `${inWordsCapitalized(other.table)} whose ${inWords(field.replace(/Id$/, ''))} is this record.`;
      relations.set(name, { is: 'many', name, field, target: other, description });
    }
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
  /** Name of the way back. */
  readonly reverse?: string;
}

function referencesOf(registry: Registry, module: EntityModule): Reference[] {
  // A kind that exposes nothing is nowhere to be seen, and entries of a history lead nowhere.
  if (!isExposed(module) || module.historyOf) return [];
  const declared = readableFields(module).flatMap(([name, { target, description, reverse }]): Reference[] =>
    target ? [{ field: name, target: registry.byKind(target), description, ...(reverse ? { reverse } : {}) }] : [],
  );
  const owner = tenancyField(module.tenancy).map((field) => {
    const target = registry.byKind(field.replace(/Id$/, ''));
    return { field, target, description: `${inWordsCapitalized(target.kind)} that the record belongs to.` };
  });
  return [...owner, ...declared];
}
