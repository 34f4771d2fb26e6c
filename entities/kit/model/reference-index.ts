import type { EntityModule } from './define.ts';
import type { Rule } from './policy.ts';
import type { TupleGrant } from './tuples.ts';

/** A grant with the kind whose rows it follows. */
export interface Granter {
  readonly module: EntityModule;
  readonly grant: TupleGrant;
}

/** Resolves what kinds name by words only, so that no entity file imports another: targets of references, and grants. */
export class ReferenceIndex {
  readonly #targets = new Map<string, ReadonlyMap<string, EntityModule>>();
  readonly #granters = new Map<string, readonly Granter[]>();

  /** @throws TypeError for a rule that can never apply, because no grant gives the relation it names */
  constructor(modules: readonly EntityModule[], byKind: (kind: string) => EntityModule) {
    const granters = Map.groupBy(
      modules.flatMap((module) => (module.grants ?? []).map((grant): Granter => ({ module, grant }))),
      ({ grant }) => grant.object.kind,
    );
    for (const { kind, fields } of modules) {
      const references = Object.entries(fields).filter(([, { target }]) => target !== undefined);
      this.#targets.set(kind, new Map(references.map(([name, { target }]) => [name, byKind(target as string)])));
      this.#granters.set(kind, granters.get(kind) ?? []);
    }
    for (const module of modules) this.#refuseUnknownRelations(module);
  }

  #refuseUnknownRelations(module: EntityModule): void {
    const given = new Set(
      this.grantersOf(module).flatMap(({ module: { fields }, grant: { relation } }) =>
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

  /** The kind that a reference points to. @throws TypeError when the field is no reference */
  targetOf({ kind }: EntityModule, field: string): EntityModule {
    const target = this.#targets.get(kind)?.get(field);
    if (!target) throw new TypeError(`entity "${kind}" has no reference "${field}" in this registry`);
    return target;
  }

  /** The grants that give relations to records of this kind. */
  grantersOf({ kind }: EntityModule): readonly Granter[] {
    const granters = this.#granters.get(kind);
    if (!granters) throw new Error(`entity "${kind}" is in no registry`);
    return granters;
  }
}
