import {
  GraphQLBoolean,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  type GraphQLInputFieldConfigMap,
  type GraphQLLeafType,
} from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Field } from '#entities/kit/model/fields.ts';
import { hasObjectRights } from '#entities/kit/model/policy.ts';
import { relationsOf } from '#entities/kit/read/relations.ts';
import type { Comparison, Filter } from '#entities/kit/read/filter.ts';
import { filterableFields } from '#entities/kit/read/where.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { BigInt } from './big-int.ts';
import { storedWords } from './choice-words.ts';
import { DateTime } from './date-time.ts';

/** A `where` argument as the executor hands it over. */
export interface WhereInput {
  readonly and?: readonly WhereInput[] | null;
  readonly or?: readonly WhereInput[] | null;
  readonly not?: WhereInput | null;
  readonly [fieldOrRelation: string]: unknown;
}

/** Deepest nesting of a filter, and most values of a list in it. */
const deepest = 6;
const maxValues = 1_000;

/**
 * @param spend counts so many comparisons and branches
 * @throws AppError limit_exceeded, invalid_input
 */
export function filterOf(
  registry: Registry,
  module: EntityModule,
  where: WhereInput,
  spend: (conditions: number) => void,
  depth = 1,
): Filter {
  if (depth > deepest) throw new AppError('limit_exceeded', `where is nested deeper than ${deepest} levels.`);
  const relations = relationsOf(registry, module);
  spend(1);
  const filters = Object.entries(where).map(([name, value]): Filter => {
    if (value === null) throw new AppError('invalid_input', `"${name}" in where is empty; leave it out.`);
    const inner = (of: EntityModule, input: unknown) => filterOf(registry, of, input as WhereInput, spend, depth + 1);
    if (name === 'not') return { is: 'not', filter: inner(module, value) };
    if (name === 'and' || name === 'or') {
      const list = value as readonly WhereInput[];
      checkLength(name, list);
      return { is: name, filters: list.map((input) => inner(module, input)) };
    }
    const relation = relations.get(name);
    if (relation) {
      spend(costOf(relation.target));
      return { is: 'related', relation, filter: inner(relation.target, value) };
    }
    const comparison = value as Comparison;
    for (const [operator, operand] of Object.entries(comparison)) {
      if (Array.isArray(operand)) checkLength(operator, operand);
      spend(1);
    }
    return { is: 'field', field: name, comparison: stored(module.fields[name], comparison) };
  });
  return { is: 'and', filters };
}

/** Conditions that the rules of a kind are worth: where rights are given record by record they are long, and look far. */
function costOf({ policy }: EntityModule): number {
  return hasObjectRights(policy) ? 20 : 2;
}

function checkLength(name: string, list: readonly unknown[]): void {
  if (list.length > maxValues)
    throw new AppError('limit_exceeded', `"${name}" takes ${maxValues} values at the most; it has ${list.length}.`);
}

/** Words of a choice are stored in small letters. */
function stored(field: Field | undefined, comparison: Comparison): Comparison {
  if (field?.type !== 'choice') return comparison;
  return Object.fromEntries(Object.entries(comparison).map(([operator, value]) => [operator, storedWords(value)]));
}

const equality = ['eq', 'ne'] as const;
const lists = ['in', 'notIn'] as const;
const ranges = ['gt', 'gte', 'lt', 'lte'] as const;
const texts = ['contains', 'startsWith'] as const;

const listComparison = new GraphQLInputObjectType({
  name: 'ListComparison',
  description: 'Comparisons of a list; all of them must hold.',
  fields: { has: { type: GraphQLString, description: 'This is one of them.' } },
});

/** Makes the `where` types of all kinds; each type is made once. */
export class WhereTypes {
  readonly #registry: Registry;
  readonly #comparisons = new Map<string, GraphQLInputObjectType>();
  readonly #wheres = new Map<string, GraphQLInputObjectType>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** @param leafType GraphQL type of a field's values */
  of(module: EntityModule, leafType: (module: EntityModule, field: string) => GraphQLLeafType): GraphQLInputObjectType {
    const made = this.#wheres.get(module.kind);
    if (made) return made;
    const type: GraphQLInputObjectType = new GraphQLInputObjectType({
      name: `${module.typeName}Where`,
      description: `Which ${module.typeName} records are meant; everything in it must hold.`,
      fields: () => {
        const list = new GraphQLList(new GraphQLNonNull(type));
        const fields: GraphQLInputFieldConfigMap = {
          and: { type: list, description: 'All of these hold.' },
          or: { type: list, description: 'One of these holds.' },
          not: { type, description: 'This does not hold.' },
        };
        for (const name of filterableFields(module))
          fields[name] = {
            type:
              module.fields[name]?.type === 'textList'
                ? listComparison
                : this.#comparison(leafType(module, name), module.fields[name]?.optional ?? false),
          };
        for (const [name, relation] of relationsOf(this.#registry, module)) {
          const description =
            relation.is === 'one' ? 'It has one, and this holds for it.' : 'This holds for one of them.';
          fields[name] = { type: this.of(relation.target, leafType), description };
        }
        return fields;
      },
    });
    this.#wheres.set(module.kind, type);
    return type;
  }

  #comparison(leaf: GraphQLLeafType, isOptional: boolean): GraphQLInputObjectType {
    const name = `${isOptional ? 'Optional' : ''}${String(leaf)}Comparison`;
    const made = this.#comparisons.get(name);
    if (made) return made;
    const list = new GraphQLList(new GraphQLNonNull(leaf));
    const isOrdered = [GraphQLString, GraphQLInt, BigInt, DateTime].includes(leaf as never);
    const type = new GraphQLInputObjectType({
      name,
      description: 'Comparisons of a field; all of them must hold.',
      fields: {
        ...Object.fromEntries(equality.map((operator) => [operator, { type: leaf }])),
        ...(leaf === GraphQLBoolean ? {} : Object.fromEntries(lists.map((operator) => [operator, { type: list }]))),
        ...(isOrdered ? Object.fromEntries(ranges.map((operator) => [operator, { type: leaf }])) : {}),
        ...(leaf === GraphQLString ? Object.fromEntries(texts.map((operator) => [operator, { type: leaf }])) : {}),
        ...(isOptional ? { isNull: { type: GraphQLBoolean } } : {}),
      },
    });
    this.#comparisons.set(name, type);
    return type;
  }
}
