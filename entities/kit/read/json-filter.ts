import { didYouMean } from '../base/did-you-mean.ts';
import type { FieldProblem } from '../base/errors.ts';
import { isDay, parseInstant } from '../base/instant.ts';
import { found, mismatch, oneOf } from '../base/schema-problem.ts';
import { namedIn, snakeCase } from '../base/snake-case.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import type { Filter } from './filter.ts';
import { nullOperandProblem, operandProblem } from './operand-problem.ts';
import { filteredType, maxOperandValues, operatorsOf, type Operator } from './operators.ts';
import { relationsOf } from './relations.ts';
import { filterableFields } from './where.ts';

/** Maximum nesting of a filter, and number of its conditions. */
const limits = { depth: 6, conditions: 100 };

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a filter that is stored as JSON: the `where` of GraphQL, with enum values as they are stored, and with names as in GraphQL or as in
 * REST. All problems are found.
 * @returns undefined for a filter with problems
 */
export function filterInJson(
  registry: Registry,
  module: EntityModule,
  json: unknown,
  path: string,
): { readonly filter?: Filter; readonly problems: readonly FieldProblem[] } {
  const reader = new FilterReader(registry);
  const filter = reader.read(module, json, path, 1);
  return reader.problems.length > 0 ? { problems: reader.problems } : { filter, problems: [] };
}

class FilterReader {
  readonly problems: FieldProblem[] = [];
  readonly #registry: Registry;
  #conditions = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  read(module: EntityModule, json: unknown, path: string, depth: number): Filter {
    if (!isObject(json)) return this.#wrong(path, mismatch('object', json));
    if (depth > limits.depth) return this.#wrong(path, `is nested deeper than ${limits.depth} levels`);
    const filters = Object.entries(json).map(([name, value]) =>
      this.#member(module, name, value, `${path}/${name}`, depth),
    );
    return { is: 'and', filters };
  }

  #member(module: EntityModule, name: string, value: unknown, path: string, depth: number): Filter {
    if (++this.#conditions > limits.conditions)
      return this.#wrong(path, `is one of more than ${limits.conditions} conditions`);
    if (name === 'not') return { is: 'not', filter: this.read(module, value, path, depth + 1) };
    if (name === 'and' || name === 'or') {
      if (!Array.isArray(value)) return this.#wrong(path, mismatch('array', value));
      return { is: name, filters: value.map((each, index) => this.read(module, each, `${path}/${index}`, depth + 1)) };
    }
    const fields = filterableFields(module);
    const field = namedIn(fields, name);
    if (field !== undefined) return this.#field(module, field, value, path);
    const relations = relationsOf(this.#registry, module);
    const relation = relations.get(namedIn([...relations.keys()], name) ?? '');
    if (relation) return { is: 'related', relation, filter: this.read(relation.target, value, path, depth + 1) };
    const near = didYouMean(snakeCase(name), [...fields, ...relations.keys()].map(snakeCase));
    const meant = [...fields, ...relations.keys()].find((known) => snakeCase(known) === near);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return this.#wrong(path, `is no field by which ${module.typeName} records can be filtered${hint}`);
  }

  #field(module: EntityModule, name: string, value: unknown, path: string): Filter {
    if (!isObject(value)) return this.#wrong(path, `must be an object of comparisons such as {"eq": …}${found(value)}`);
    const operators = operatorsOf(module, name);
    const comparison = Object.entries(value).map(([operator, operand]): [string, unknown] => {
      const at = `${path}/${operator}`;
      const wanted = namedIn(
        operators.map((each) => each.name),
        operator,
      );
      const known = operators.find((each) => each.name === wanted);
      if (known) return [known.name, this.#operand(module, name, known, operand, at)];
      this.#wrong(at, `is no comparison of this field; ${oneOf(operators.map((each) => each.name))}`);
      return [operator, operand];
    });
    return { is: 'field', field: name, comparison: Object.fromEntries(comparison) };
  }

  #operand(module: EntityModule, name: string, operator: Operator, value: unknown, path: string): unknown {
    const { operand: takes } = operator;
    if (takes === 'flag') return typeof value === 'boolean' ? value : this.#wrong(path, mismatch('boolean', value));
    if (takes === 'value') return this.#value(module, name, operator, value, path);
    if (!Array.isArray(value) || value.length > maxOperandValues)
      return this.#wrong(path, `must be a list of at most ${maxOperandValues} values`);
    return value.map((each: unknown, index) => this.#value(module, name, operator, each, `${path}/${index}`));
  }

  #value(module: EntityModule, name: string, operator: Operator, value: unknown, path: string): unknown {
    if (value === null) return this.#wrong(path, nullOperandProblem(module, name, 'isNull: true'));
    const type = filteredType(module, name);
    const { values } = module.fields[name] ?? {};
    if (type === 'integer') return Number.isSafeInteger(value) ? value : this.#wrong(path, mismatch('integer', value));
    if (type === 'boolean') return typeof value === 'boolean' ? value : this.#wrong(path, mismatch('boolean', value));
    if (typeof value !== 'string') return this.#wrong(path, mismatch('string', value));
    if (type === 'timestamp') return parseInstant(value) ?? this.#wrong(path, mismatch('date-time', value));
    if (type === 'date' && !isDay(value)) return this.#wrong(path, mismatch('date', value));
    if (type === 'decimal' && !/^\d{1,38}(\.\d{1,38})?$/.test(value))
      return this.#wrong(path, mismatch('decimal', value));
    const problem = operandProblem(this.#registry, module, name, operator.name, value);
    if (problem !== undefined) return this.#wrong(path, problem);
    if (values === undefined) return value;
    const word = value.toLowerCase();
    return values.includes(word) ? word : this.#wrong(path, oneOf(values) + found(value));
  }

  /** @returns a filter that nobody uses */
  #wrong(path: string, message: string): Filter {
    this.problems.push({ path, message });
    return { is: 'or', filters: [] };
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
