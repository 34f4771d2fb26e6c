import type { EntityModule } from './define.ts';
import { fileKindOf } from './derived/kind-files.ts';
import type { Rule } from './policy.ts';
import { relationNames, type TupleGrant } from './tuples.ts';

export interface Granter {
  readonly module: EntityModule;
  readonly grant: TupleGrant;
}

/** Resolves targets of references and objects of grants. Entity files name other kinds by string, so that none imports another. */
export class ReferenceIndex {
  readonly #targets = new Map<string, ReadonlyMap<string, EntityModule>>();
  readonly #granters = new Map<string, readonly Granter[]>();
  readonly #byKind: (kind: string) => EntityModule;

  /** @throws TypeError for a rule that can never apply, because no grant declares the relation that it names */
  constructor(modules: readonly EntityModule[], byKind: (kind: string) => EntityModule) {
    this.#byKind = byKind;
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
  targetOf(module: EntityModule, field: string): EntityModule {
    const target = this.maybeTargetOf(module, field);
    if (!target) throw new TypeError(`entity "${module.kind}" has no reference "${field}"`);
    return target;
  }

  /** The same; undefined when the field refers to records of several kinds. */
  maybeTargetOf({ kind }: EntityModule, field: string): EntityModule | undefined {
    return this.#targets.get(kind)?.get(field);
  }

  /** The kinds of records whose ids a field can hold (`recordOf`). @throws TypeError when the field is not of this sort */
  kindsOf({ kind, fields }: EntityModule, field: string): readonly EntityModule[] {
    const { anyOf } = fields[field] ?? {};
    if (!anyOf) throw new TypeError(`entity "${kind}": "${field}" does not refer to records of several kinds`);
    return anyOf.kinds.map(this.#byKind);
  }

  filesOf(module: EntityModule): EntityModule | undefined {
    return module.files ? this.#byKind(fileKindOf(module)) : undefined;
  }

  grantersOf({ kind }: EntityModule): readonly Granter[] {
    const granters = this.#granters.get(kind);
    if (!granters) throw new Error(`entity "${kind}" is not in this registry`);
    return granters;
  }
}
