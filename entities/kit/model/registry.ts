import type { EntityModule } from './define.ts';
import { creatorGrantOf, hasCreators } from './creator-grant.ts';
import { ReferenceIndex } from './reference-index.ts';
import { shareOf } from './share.ts';

/** All kinds of one process, and how they refer to each other. */
export interface Registry {
  readonly modules: readonly EntityModule[];
  readonly references: ReferenceIndex;
  byKind(kind: string): EntityModule;
  byTypeName(typeName: string): EntityModule;
}

/** Adds the kinds that follow from declarations of others, directly behind these. */
function withDerived(declared: readonly EntityModule[]): readonly EntityModule[] {
  const created = declared.filter(hasCreators);
  return [
    ...declared.flatMap((module) => [module, ...(module.share ? [shareOf(module)] : [])]),
    ...(created.length > 0 ? [creatorGrantOf(created)] : []),
  ];
}

/**
 * Resolves references between kinds.
 * @throws TypeError when two kinds share a name, a table or a prefix, or a reference points nowhere.
 */
export function createRegistry(declared: readonly EntityModule[]): Registry {
  const modules = withDerived(declared);
  const kinds = new Map<string, EntityModule>();
  const tables = new Map<string, string>();
  const prefixes = new Map<string, string>();
  for (const module of modules) {
    const holder = tables.get(module.table);
    if (kinds.has(module.kind)) throw new TypeError(`two entities are called "${module.kind}"`);
    if (holder) throw new TypeError(`"${module.kind}" and "${holder}" share the table "${module.table}"`);
    if (module.displayId !== undefined) {
      const former = prefixes.get(module.displayId);
      if (former)
        throw new TypeError(`"${module.kind}" and "${former}" share the prefix of display ids "${module.displayId}"`);
      prefixes.set(module.displayId, module.kind);
    }
    kinds.set(module.kind, module);
    tables.set(module.table, module.kind);
  }
  const unknownKind = (kind: string) => `no entity is called "${kind}"; known are ${[...kinds.keys()].join(', ')}`;
  const byKind = (kind: string): EntityModule => {
    const module = kinds.get(kind);
    if (!module) throw new TypeError(unknownKind(kind));
    return module;
  };
  for (const { kind, fields } of modules)
    for (const [name, { target }] of Object.entries(fields))
      if (target !== undefined && !kinds.has(target))
        throw new TypeError(`entity "${kind}": field "${name}": ${unknownKind(target)}`);
  return {
    modules,
    references: new ReferenceIndex(modules, byKind),
    byKind,
    byTypeName: (typeName) => byKind(typeName.slice(0, 1).toLowerCase() + typeName.slice(1)),
  };
}
