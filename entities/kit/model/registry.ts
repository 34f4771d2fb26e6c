import type { EntityModule } from './define.ts';
import { creatorGrantOf, hasCreators } from './derived/creator-grant.ts';
import { joinOf } from './derived/join.ts';
import { filesOf } from './derived/kind-files.ts';
import { proposalOf } from './derived/proposal.ts';
import { ReferenceIndex } from './reference-index.ts';
import { shareOf } from './derived/share.ts';

/** All kinds of one process, and how they refer to each other. */
export interface Registry {
  readonly modules: readonly EntityModule[];
  readonly references: ReferenceIndex;
  byKind(kind: string): EntityModule;
  byTypeName(typeName: string): EntityModule;
  /** Whether records of a kind admit to an organization, and end with it (`admittingKinds` of a behaviour). */
  endsWithOrganization(kind: string): boolean;
  /** Whether fields of a kind only announce the deletion of an organization (`announcingFields` of a behaviour). */
  announcesDeletion(kind: string, fields: readonly string[]): boolean;
  /** The area of a kind; a history is in the area of its kind. */
  areaOf(module: EntityModule): string;
}

/** Kinds by area: the exports of each `entities/<area>/index.ts`. */
type Areas = Readonly<Record<string, Readonly<Record<string, EntityModule>>>>;

interface Placed {
  readonly area: string;
  readonly module: EntityModule;
}

/** Adds the derived kinds (shares, files, proposals, links, creator grants), each in the area of the kind from which it is derived. */
function withDerived(areas: Areas): readonly Placed[] {
  const declared = Object.entries(areas).flatMap(([area, kinds]) =>
    Object.values(kinds).map((module) => ({ area, module })),
  );
  const targetOf = (kind: string): EntityModule => {
    const found = declared.find(({ module }) => module.kind === kind);
    if (!found) throw new TypeError(`a join names "${kind}", which is no entity`);
    return found.module;
  };
  const created = declared.map(({ module }) => module).filter(hasCreators);
  const groups = declared.find(({ module }) => module.kind === 'group');
  return [
    ...declared.flatMap(({ area, module }) => [
      { area, module },
      ...(module.share ? [{ area, module: shareOf(module) }] : []),
      ...(module.files ? [{ area, module: filesOf(module, module.files) }] : []),
      ...(module.automation ? [{ area, module: proposalOf(module) }] : []),
      ...(module.joins ?? []).map(({ to }) => ({ area, module: joinOf(module, targetOf(to)) })),
    ]),
    ...(created.length > 0 ? [{ area: groups?.area ?? '', module: creatorGrantOf(created) }] : []),
  ];
}

/**
 * Resolves references between kinds.
 * @param declared kinds by area; a plain list is one area without a name
 * @throws TypeError when two kinds share a name, a table or a prefix, or the target of a reference is unknown
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
  const admitting = new Set(
    modules.flatMap(({ behaviours = [] }) => behaviours.flatMap(({ admittingKinds = [] }) => admittingKinds)),
  );
  const announcing = new Map(
    modules.flatMap(({ behaviours = [] }) =>
      behaviours.flatMap(({ announcingFields = {} }) => Object.entries(announcingFields)),
    ),
  );
  return {
    modules,
    references: new ReferenceIndex(modules, byKind),
    byKind,
    byTypeName: (typeName) => byKind(typeName.slice(0, 1).toLowerCase() + typeName.slice(1)),
    endsWithOrganization: (kind) => admitting.has(kind),
    announcesDeletion: (kind, fields) => fields.every((field) => announcing.get(kind)?.includes(field)),
    areaOf: (module) => areas.get((module.historyOf ?? module).kind) as string,
  };
}

function isList(declared: Areas | readonly EntityModule[]): declared is readonly EntityModule[] {
  return Array.isArray(declared);
}
