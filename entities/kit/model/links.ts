import type { EntityModule } from './define.ts';
import type { Rule } from './policy.ts';
import type { TupleGrant } from './tuples.ts';

/** A grant with the kind whose rows it follows. */
export interface Granter {
  readonly module: EntityModule;
  readonly grant: TupleGrant;
}

interface Links {
  readonly targets: ReadonlyMap<string, EntityModule>;
  readonly granters: readonly Granter[];
}

const known = new WeakMap<EntityModule, Links>();

/** Ties kinds to each other, once they are all there: entity files name each other by words, so that none imports another. */
export function link(modules: readonly EntityModule[], byKind: (kind: string) => EntityModule): void {
  const granters = modules.flatMap((module) => (module.grants ?? []).map((grant): Granter => ({ module, grant })));
  for (const module of modules) {
    const references = Object.entries(module.fields).filter(([, { target }]) => target !== undefined);
    known.set(module, {
      targets: new Map(references.map(([name, { target }]) => [name, byKind(target as string)])),
      granters: granters.filter(({ grant }) => grant.object.kind === module.kind),
    });
  }
  for (const module of modules) refuseUnknownRelations(module);
}

/** @throws TypeError for a rule that can never apply, because nothing gives the relation it names */
function refuseUnknownRelations(module: EntityModule): void {
  const given = new Set(
    grantersOf(module).flatMap(({ module: { fields }, grant: { relation } }) =>
      typeof relation === 'string' ? [relation] : (fields[relation.field]?.values ?? []),
    ),
  );
  for (const { when } of Object.values(module.policy ?? {}).flat() as Rule[]) {
    const unknown = when.is === 'related' ? when.relations.find((name) => !given.has(name)) : undefined;
    if (unknown !== undefined)
      throw new TypeError(
        `entity "${module.kind}": its rules name the relation "${unknown}", which no grant gives; given are ${[...given].join(', ') || 'none'}`,
      );
  }
}

function linksOf(module: EntityModule): Links {
  const links = known.get(module);
  if (!links) throw new Error(`entity "${module.kind}" is in no registry`);
  return links;
}

/** The kind that a reference of this one points to. @throws TypeError when the field is no reference */
export function targetOf(module: EntityModule, field: string): EntityModule {
  const target = linksOf(module).targets.get(field);
  if (!target) throw new TypeError(`entity "${module.kind}" has no reference "${field}"`);
  return target;
}

/** What gives relations to records of this kind. */
export function grantersOf(module: EntityModule): readonly Granter[] {
  return linksOf(module).granters;
}
