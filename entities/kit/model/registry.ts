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
  /** The area of a kind; kinds derived from another one are in its area. */
  areaOf(module: EntityModule): string;
  schemaOf(module: EntityModule): EntitySchema;
  /** The unique key an index enforces, if it is one of this kind's. */
  uniqueKey(module: EntityModule, index: string): UniqueKey | undefined;
}

/** Kinds by area: the exports of each `entities/<area>/index.ts`. */
export type Areas = Readonly<Record<string, Readonly<Record<string, EntityModule>>>>;

interface Placed {
  readonly area: string;
  readonly module: EntityModule;
}

/** Adds the kinds that are derived from declared ones, each in the area of the kind it belongs to. */
function withDerived(areas: Areas): readonly Placed[] {
  const declared = Object.entries(areas).flatMap(([area, kinds]) =>
    Object.values(kinds).map((module) => ({ area, module })),
  );
  const created = declared.map(({ module }) => module).filter(hasCreators);
  const groups = declared.find(({ module }) => module.kind === 'group');
  return [
    ...declared.flatMap(({ area, module }) => [
      { area, module },
      ...(module.share ? [{ area, module: shareOf(module) }] : []),
    ]),
    ...(created.length > 0 ? [{ area: groups?.area ?? '', module: creatorGrantOf(created) }] : []),
  ];
}

/**
 * Resolves references between kinds and derives their storage.
 * @param declared kinds by area; a plain list is one area without a name
 * @throws TypeError when two kinds share a name, a table or a prefix, or a reference points nowhere.
 */
export function createRegistry(declared: Areas | readonly EntityModule[]): Registry {
  const placed = withDerived(isList(declared) ? { '': Object.fromEntries(declared.entries()) } : declared);
  const modules = placed.map(({ module }) => module);
  const areas = new Map(placed.map(({ area, module }) => [module.kind, area]));
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
    areaOf: (module) => areas.get((module.historyOf ?? module).kind) as string,
    schemaOf: (module) => schemas.get(module.kind) as EntitySchema,
    uniqueKey: (module, index) => module.unique?.find((key) => uniqueKeyName(module, key.fields) === index),
  };
}

function isList(declared: Areas | readonly EntityModule[]): declared is readonly EntityModule[] {
  return Array.isArray(declared);
}
