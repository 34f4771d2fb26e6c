import type { EntitySchema } from '@mikro-orm/core';
import type { EntityModule, UniqueKey } from './define.ts';
import { creatorGrantOf, hasCreators } from './creator-grant.ts';
import { link } from './links.ts';
import { shareOf } from './share.ts';
import { ormSchemaOf, uniqueKeyName } from '../storage/orm-schema.ts';

/** All kinds of one process, by kind, with their storage schemas. */
export interface Registry {
  readonly modules: readonly EntityModule[];
  readonly schemas: readonly EntitySchema[];
  byKind(kind: string): EntityModule;
  byTypeName(typeName: string): EntityModule;
  schemaOf(module: EntityModule): EntitySchema;
  /** The unique key an index enforces, if it is one of this kind's. */
  uniqueKey(module: EntityModule, index: string): UniqueKey | undefined;
}

/** The kinds that follow from what others declare stand behind them. */
function withDerived(declared: readonly EntityModule[]): readonly EntityModule[] {
  const created = declared.filter(hasCreators);
  return [
    ...declared.flatMap((module) => [module, ...(module.share ? [shareOf(module)] : [])]),
    ...(created.length > 0 ? [creatorGrantOf(created)] : []),
  ];
}

/**
 * Resolves references between kinds and derives their storage.
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
  const schemas = new Map(modules.map((module) => [module.kind, ormSchemaOf(module, (kind) => byKind(kind).typeName)]));
  link(modules, byKind);
  return {
    modules,
    schemas: [...schemas.values()],
    byKind,
    byTypeName: (typeName) => byKind(typeName.slice(0, 1).toLowerCase() + typeName.slice(1)),
    schemaOf: (module) => schemas.get(module.kind) as EntitySchema,
    uniqueKey: (module, index) => module.unique?.find((key) => uniqueKeyName(module, key.fields) === index),
  };
}
