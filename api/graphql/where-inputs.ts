import {
  GraphQLBoolean,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputType,
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

/** A `where` argument. */
export interface WhereInput {
  readonly and?: readonly WhereInput[] | null;
  readonly or?: readonly WhereInput[] | null;
  readonly not?: WhereInput | null;
  readonly [fieldOrRelation: string]: unknown;
}

/** Maximum nesting of a filter, and maximum length of a list in it. */
const maxDepth = 6;
const maxValues = 1_000;

/**
 * @param spend counts comparisons and branches against the limits
 * @throws AppError limit_exceeded, invalid_input
 */
export function filterOf(
  registry: Registry,
  module: EntityModule,
  where: WhereInput,
  spend: (conditions: number) => void,
  depth = 1,
): Filter {
  if (depth > maxDepth) throw new AppError('limit_exceeded', `where is nested deeper than ${maxDepth} levels.`);
  const relations = relationsOf(registry, module);
  spend(1);
  const filters = Object.entries(where).map(([name, value]): Filter => {
    if (value === null) throw new AppError('invalid_input', `"${name}" in where is null; omit it.`);
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

/** Cost of the policy of a kind, in conditions: record-level rights compile to long predicates over several tables. */
function costOf({ policy }: EntityModule): number {
  return hasObjectRights(policy) ? 20 : 2;
}

function checkLength(name: string, list: readonly unknown[]): void {
  if (list.length > maxValues)
    throw new AppError('limit_exceeded', `"${name}" accepts at most ${maxValues} values; it has ${list.length}.`);
}

/** Enum values are stored in lower case. */
function stored(field: Field | undefined, comparison: Comparison): Comparison {
  if (field?.type !== 'choice') return comparison;
  return Object.fromEntries(Object.entries(comparison).map(([operator, value]) => [operator, storedWords(value)]));
}

const equality = { eq: 'Equal to this value.', ne: 'Not equal to this value.' };
const lists = { in: 'Equal to one of these values.', notIn: 'Equal to none of these values.' };
const ranges = {
  gt: 'Greater than this value.',
  gte: 'Greater than or equal to this value.',
  lt: 'Less than this value.',
  lte: 'Less than or equal to this value.',
};
const texts = { contains: 'Contains this text; case-sensitive.', startsWith: 'Begins with this text; case-sensitive.' };

/** Operators with their descriptions, as fields of an input type. */
function operators(described: Readonly<Record<string, string>>, type: GraphQLInputType): GraphQLInputFieldConfigMap {
  return Object.fromEntries(Object.entries(described).map(([name, description]) => [name, { type, description }]));
}

const listComparison = new GraphQLInputObjectType({
  name: 'ListComparison',
  description: 'Comparisons of a list field; all of them must match.',
  fields: { has: { type: GraphQLString, description: 'The list contains this value.' } },
});

/** Creates the `where` types of all kinds, each once. */
export class WhereTypes {
  readonly #registry: Registry;
  readonly #comparisons = new Map<string, GraphQLInputObjectType>();
  readonly #wheres = new Map<string, GraphQLInputObjectType>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** @param leafType returns the GraphQL type of a field's values */
  of(module: EntityModule, leafType: (module: EntityModule, field: string) => GraphQLLeafType): GraphQLInputObjectType {
    const made = this.#wheres.get(module.kind);
    if (made) return made;
    const type: GraphQLInputObjectType = new GraphQLInputObjectType({
      name: `${module.typeName}Where`,
      description: `Filter for ${module.typeName} records; all of its conditions must match.`,
      fields: () => {
        const list = new GraphQLList(new GraphQLNonNull(type));
        const fields: GraphQLInputFieldConfigMap = {
          and: { type: list, description: 'All of these filters match.' },
          or: { type: list, description: 'At least one of these filters matches.' },
          not: { type, description: 'This filter does not match.' },
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
            relation.is === 'one'
              ? 'The related record exists and matches this filter.'
              : 'At least one related record matches this filter.';
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
      description: 'Comparisons of a field; all of them must match.',
      fields: {
        ...operators(equality, leaf),
        ...(leaf === GraphQLBoolean ? {} : operators(lists, list)),
        ...(isOrdered ? operators(ranges, leaf) : {}),
        ...(leaf === GraphQLString ? operators(texts, leaf) : {}),
        ...(isOptional ? operators({ isNull: 'Whether the field is empty.' }, GraphQLBoolean) : {}),
      },
    });
    this.#comparisons.set(name, type);
    return type;
  }
}
