import {
  getNamedType,
  GraphQLObjectType,
  isIntrospectionType,
  isSpecifiedScalarType,
  printType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { compareText } from '#entities/kit/base/compare-text.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { capitalized } from './capitalized.ts';

/** Types that belong to no area: `Node`, pages, scalars, searches in all kinds. */
const commonArea = 'common';

/**
 * The schema in GraphQL's definition language, one text for each area of kinds and one for what they share, by area. Together the
 * texts define the whole schema: the areas extend the root types of the common text.
 */
export function schemaFiles(schema: GraphQLSchema, registry: Registry): ReadonlyMap<string, string> {
  const areaOf = areasByName(registry);
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(
    (type) => type != null,
  );
  const types = Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .toSorted((one, other) => compareText(one.name, other.name));
  const texts = new Map<string, string[]>([[commonArea, roots.map(({ name }) => `type ${name}`)]]);
  const add = (area: string, text: string) => {
    const parts = texts.get(area) ?? [];
    texts.set(area, parts);
    parts.push(text);
  };
  for (const root of roots) for (const [area, part] of partsOf(root, areaOf)) add(area, `extend ${printType(part)}`);
  for (const type of types) if (!roots.includes(type as GraphQLObjectType)) add(areaOf(type), printType(type));
  return new Map([...texts].map(([area, parts]) => [area, `${parts.join('\n\n')}\n`]));
}

/** A type belongs to the kind with the longest name that its own name contains: `TaskShareEdge` to `TaskShare`, not to `Task`. */
function areasByName(registry: Registry): (type: GraphQLNamedType) => string {
  const kinds = registry.modules.map((module) => ({
    name: capitalized(module.typeName),
    area: registry.areaOf(module),
  }));
  const byLength = kinds.toSorted((one, other) => other.name.length - one.name.length);
  return ({ name }) => byLength.find((kind) => isWithin(kind.name, name))?.area || commonArea;
}

/** Whether these words stand in a name in PascalCase, and not only some of their letters. */
function isWithin(words: string, name: string): boolean {
  const start = name.indexOf(words);
  return start >= 0 && !/^[a-z0-9]/.test(name.slice(start + words.length));
}

/** The fields of a root type, each in the area of the type that it returns. */
function partsOf(root: GraphQLObjectType, areaOf: (type: GraphQLNamedType) => string): Map<string, GraphQLObjectType> {
  const { fields, ...config } = root.toConfig();
  const parts = new Map<string, typeof fields>();
  for (const [name, field] of Object.entries(fields)) {
    const area = areaOf(getNamedType(field.type));
    parts.set(area, { ...parts.get(area), [name]: field });
  }
  return new Map([...parts].map(([area, own]) => [area, new GraphQLObjectType({ ...config, fields: own })]));
}
