import {
  GraphQLBoolean,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLInputFieldConfigMap,
  type GraphQLLeafType,
} from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { hasObjectRights } from '#entities/kit/model/policy.ts';
import { relationsOf } from '#entities/kit/read/relations.ts';
import type { Comparison, Filter } from '#entities/kit/read/filter.ts';
import { filteredType, maxOperandValues, operatorsOf } from '#entities/kit/read/operators.ts';
import { filterableFields } from '#entities/kit/read/where.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { storedWords } from './choice-words.ts';

/** A `where` argument. */
export interface WhereInput {
  readonly and?: readonly WhereInput[] | null;
  readonly or?: readonly WhereInput[] | null;
  readonly not?: WhereInput | null;
  readonly [fieldOrRelation: string]: unknown;
}

/** Maximum nesting of a filter. */
const maxDepth = 6;

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
  if (depth > maxDepth) throw tooMuch(`is nested deeper than ${maxDepth} levels`);
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
  if (list.length > maxOperandValues)
    throw tooMuch(`has "${name}" with ${list.length} values; at most ${maxOperandValues} are possible`);
}

function tooMuch(problem: string): AppError {
  return limitExceeded(`where ${problem}.`, { path: '/where', message: problem });
}

/** Enum values are stored in lower case. */
function stored(field: Field | undefined, comparison: Comparison): Comparison {
  if (field?.type !== 'choice') return comparison;
  return Object.fromEntries(Object.entries(comparison).map(([operator, value]) => [operator, storedWords(value)]));
}

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
          fields[name] = { type: this.#comparison(module, name, leafType(module, name)) };
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

  /** Fields of the same type, and as optional, share a type. */
  #comparison(module: EntityModule, field: string, leaf: GraphQLLeafType): GraphQLInputObjectType {
    const isList = filteredType(module, field) === 'textList';
    const name = isList
      ? 'ListComparison'
      : `${module.fields[field]?.optional ? 'Optional' : ''}${String(leaf)}Comparison`;
    const made = this.#comparisons.get(name);
    if (made) return made;
    const types = { value: leaf, values: new GraphQLList(new GraphQLNonNull(leaf)), flag: GraphQLBoolean };
    const type = new GraphQLInputObjectType({
      name,
      description: `Comparisons of a ${isList ? 'list ' : ''}field; all of them must match.`,
      fields: Object.fromEntries(
        operatorsOf(module, field).map(({ name, description, operand }) => [
          name,
          { type: types[operand], description },
        ]),
      ),
    });
    this.#comparisons.set(name, type);
    return type;
  }
}
