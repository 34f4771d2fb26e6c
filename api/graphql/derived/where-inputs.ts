import {
  GraphQLBoolean,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLInputFieldConfigMap,
  type GraphQLLeafType,
} from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { AppError, FieldProblem } from '#entities/kit/base/errors.ts';
import { inputError, limitExceeded } from '#entities/kit/base/input-error.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { hasObjectRights } from '#entities/kit/model/policy.ts';
import { relationsOf } from '#entities/kit/read/relations.ts';
import type { Comparison, Filter } from '#entities/kit/read/filter.ts';
import { nullOperandProblem, operandProblem } from '#entities/kit/read/operand-problem.ts';
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

/** Parameters with which the parts of one filter are read. */
interface Reading {
  readonly registry: Registry;
  readonly spend: (conditions: number) => void;
  /** Problems of operands, with the path of each. */
  readonly problems: FieldProblem[];
}

/**
 * @param spend counts comparisons and branches against the limits
 * @throws AppError limit_exceeded, invalid_input
 */
export function filterOf(
  registry: Registry,
  module: EntityModule,
  where: WhereInput,
  spend: (conditions: number) => void,
): Filter {
  const problems: FieldProblem[] = [];
  const filter = read(module, where, { registry, spend, problems }, '/where', 1);
  if (problems.length > 0) throw inputError(problems);
  return filter;
}

function read(module: EntityModule, where: WhereInput, reading: Reading, path: string, depth: number): Filter {
  if (depth > maxDepth) throw tooMuch(`is nested deeper than ${maxDepth} levels`);
  const { registry, spend } = reading;
  const relations = relationsOf(registry, module);
  spend(1);
  const filters = Object.entries(where).map(([name, value]): Filter => {
    const at = `${path}/${name}`;
    if (value === null) {
      const instead = module.fields[name]?.optional ? ', or write { isNull: true } for records without a value' : '';
      reading.problems.push({ path: at, message: `cannot be null; leave it out${instead}` });
      return { is: 'and', filters: [] };
    }
    const inner = (of: EntityModule, input: unknown, place = at) =>
      read(of, input as WhereInput, reading, place, depth + 1);
    if (name === 'not') return { is: 'not', filter: inner(module, value) };
    if (name === 'and' || name === 'or') {
      const list = value as readonly WhereInput[];
      checkLength(name, list);
      return { is: name, filters: list.map((input, index) => inner(module, input, `${at}/${index}`)) };
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
      reading.problems.push(...problemsOf(registry, module, name, operator as keyof Comparison, operand, at));
    }
    return { is: 'field', field: name, comparison: stored(module.fields[name], comparison) };
  });
  return { is: 'and', filters };
}

function problemsOf(
  registry: Registry,
  module: EntityModule,
  name: string,
  operator: keyof Comparison,
  operand: unknown,
  path: string,
): FieldProblem[] {
  const values: readonly unknown[] = Array.isArray(operand) ? operand : [operand];
  return values.flatMap((value, index) => {
    const message =
      value === null
        ? nullOperandProblem(module, name, 'isNull: true')
        : operandProblem(registry, module, name, operator, value);
    const at = Array.isArray(operand) ? `${path}/${operator}/${index}` : `${path}/${operator}`;
    return message === undefined ? [] : [{ path: at, message }];
  });
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
