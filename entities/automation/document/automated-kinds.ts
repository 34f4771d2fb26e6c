import { onceForEach } from '../../kit/base/once-for-each.ts';
import { snakeCase } from '../../kit/base/snake-case.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import { answeredFields } from '../../kit/model/exposure.ts';
import { linksOf } from '../../kit/model/links.ts';
import type { Registry } from '../../kit/model/registry.ts';

/** Fields of a kind that definitions can hold and set; undefined for a kind without workflows. */
export function gateableFields({ automation }: EntityModule): readonly string[] | undefined {
  return automation?.fields;
}

export function automatedKinds({ modules }: Registry): EntityModule[] {
  return modules.filter((module) => gateableFields(module) !== undefined);
}

/** The kind that a document names, as `Task` or `task`. */
export function automatedKind(registry: Registry, name: string): EntityModule | undefined {
  const camelCase = name.slice(0, 1).toLowerCase() + name.slice(1);
  return automatedKinds(registry).find(({ kind }) => kind === camelCase);
}

/** Fields of records that expressions and triggers name, by their names in snake_case: those that answers have. */
const readableNames = onceForEach(
  (module: EntityModule): ReadonlyMap<string, string> =>
    new Map(answeredFields(module).map((name) => [snakeCase(name), name])),
);

/** The field with a name in snake_case; undefined if answers have none. */
export function fieldNamed(module: EntityModule, name: string): string | undefined {
  return readableNames(module).get(name);
}

export function fieldNames(module: EntityModule): string[] {
  return [...readableNames(module).keys()];
}

export interface Edge {
  /** Name in documents: `groups`. */
  readonly name: string;
  /** The kind of the links. */
  readonly through: EntityModule;
}

/** Links of a kind with others. */
export function edgesOf(registry: Registry, module: EntityModule): Edge[] {
  return linksOf(registry, module).map(({ through, other }) => ({ name: snakeCase(other.listed), through }));
}

/** Keys of people whom records name (targets of the type RESOLVER), with the field; null for those that follow from no field. */
export const resolversOf = onceForEach(({ fields }: EntityModule): ReadonlyMap<string, string | null> => {
  const people = Object.entries(fields).filter(([, { target }]) => target === 'user');
  return new Map<string, string | null>([
    ['OBJECT_CREATOR', null],
    ['OWNER', null],
    ...people.map(([name]): [string, string] => [snakeCase(name.replace(/Id$/, '')).toUpperCase(), name]),
  ]);
});
