import type { Registry } from './registry.ts';

/** One relation of a type and the kinds of subject it can be given to directly. */
export interface ModelRelation {
  readonly name: string;
  readonly subjects: readonly string[];
}

export interface ModelType {
  readonly name: string;
  readonly relations: readonly ModelRelation[];
}

/** The authorization model, derived from the grants of the entity modules. */
export function deriveModel(registry: Registry): ModelType[] {
  const types = new Map<string, Map<string, Set<string>>>();
  const typeOf = (name: string) => {
    const relations = types.get(name) ?? new Map<string, Set<string>>();
    types.set(name, relations);
    return relations;
  };
  for (const module of registry.modules) {
    for (const grant of module.grants ?? []) {
      typeOf(grant.subject.kind);
      const relations = typeOf(grant.object.kind);
      const names =
        typeof grant.relation === 'string' ? [grant.relation] : (module.fields[grant.relation.field]?.values ?? []);
      for (const name of names) relations.set(name, new Set([...(relations.get(name) ?? []), grant.subject.kind]));
    }
  }
  return [...types].map(([name, relations]) => ({
    name,
    relations: [...relations].map(([relation, subjects]) => ({ name: relation, subjects: [...subjects] })),
  }));
}

/** The model in the store's own language (schema 1.1), as it is checked in. */
export function printModel(types: readonly ModelType[]): string {
  const lines = ['model', '  schema 1.1'];
  for (const type of types) {
    lines.push('', `type ${type.name}`);
    if (type.relations.length > 0) lines.push('  relations');
    for (const relation of type.relations) lines.push(`    define ${relation.name}: [${relation.subjects.join(', ')}]`);
  }
  return `${lines.join('\n')}\n`;
}
