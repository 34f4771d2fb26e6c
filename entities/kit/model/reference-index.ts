import type { EntityModule } from './define.ts';
import type { Rule } from './policy.ts';
import { relationNames, type TupleGrant } from './tuples.ts';

/** A grant with the kind that declares it. */
export interface Granter {
  readonly module: EntityModule;
  readonly grant: TupleGrant;
}

/** Resolves targets of references and objects of grants. Entity files name other kinds by string, so that none imports another. */
export class ReferenceIndex {
  readonly #targets = new Map<string, ReadonlyMap<string, EntityModule>>();
  readonly #granters = new Map<string, readonly Granter[]>();

  /** @throws TypeError for a rule that can never apply, because no grant declares the relation that it names */
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
    const declared = new Set(
      this.grantersOf(module).flatMap(({ module: { fields }, grant }) => relationNames(grant, fields)),
    );
    for (const { when } of Object.values(module.policy ?? {}).flat() as Rule[]) {
      const unknown = when.is === 'related' ? when.relations.find((name) => !declared.has(name)) : undefined;
      if (unknown !== undefined)
        throw new TypeError(
          `entity "${module.kind}": its rules name the relation "${unknown}", which no grant declares; declared are ${[...declared].join(', ') || 'none'}`,
        );
    }
  }

  /** The kind to which a reference points. @throws TypeError when the field is not a reference */
  targetOf({ kind }: EntityModule, field: string): EntityModule {
    const target = this.#targets.get(kind)?.get(field);
    if (!target) throw new TypeError(`entity "${kind}" has no reference "${field}"`);
    return target;
  }

  /** The grants whose objects are records of this kind. */
  grantersOf({ kind }: EntityModule): readonly Granter[] {
    const granters = this.#granters.get(kind);
    if (!granters) throw new Error(`entity "${kind}" is not in this registry`);
    return granters;
  }
}
