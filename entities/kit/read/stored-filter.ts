import type { FieldProblem } from '../base/errors.ts';
import type { EntityModule } from '../model/define.ts';
import { normalized, problemOf } from '../model/input.ts';
import type { Registry } from '../model/registry.ts';
import type { Comparison, Filter } from './filter.ts';
import { maxOperandValues, operatorsOf } from './operators.ts';
import { relationsOf } from './relations.ts';
import { filterableFields } from './where.ts';

/** A filter that was read from JSON, or what is wrong with it. */
export type ReadFilter = { readonly filter: Filter } | { readonly problems: readonly FieldProblem[] };

/** Maximum nesting of a filter, and maximum number of its conditions. */
const limits = { depth: 6, conditions: 100 } as const;

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a filter that is stored as JSON, in the form of the argument `where` of GraphQL. Unlike an argument, no schema has checked it.
 * @param path JSON pointer of the filter
 */
export function readFilter(registry: Registry, module: EntityModule, value: unknown, path: string): ReadFilter {
  const reader = new FilterReader(registry);
  const filter = reader.filter(module, value, path, 1);
  return reader.problems.length > 0 ? { problems: reader.problems } : { filter };
}

class FilterReader {
  readonly problems: FieldProblem[] = [];
  readonly #registry: Registry;
  #conditions = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  filter(module: EntityModule, value: unknown, path: string, depth: number): Filter {
    const none: Filter = { is: 'and', filters: [] };
    if (!isObject(value)) return this.#refuse(path, 'must be an object', none);
    if (depth > limits.depth) return this.#refuse(path, `is nested deeper than ${limits.depth} levels`, none);
    const filters = Object.entries(value).map(([name, inner]) =>
      this.#condition(module, name, inner, `${path}/${name}`, depth),
    );
    return { is: 'and', filters };
  }

  #condition(module: EntityModule, name: string, value: unknown, path: string, depth: number): Filter {
    const none: Filter = { is: 'and', filters: [] };
    this.#conditions += 1;
    if (this.#conditions > limits.conditions)
      return this.#conditions === limits.conditions + 1
        ? this.#refuse(path, `is one of more than ${limits.conditions} conditions`, none)
        : none;
    if (name === 'not') return { is: 'not', filter: this.filter(module, value, path, depth + 1) };
    if (name === 'and' || name === 'or') {
      if (!Array.isArray(value)) return this.#refuse(path, 'must be a list', none);
      const filters = value.map((one: unknown, index) => this.filter(module, one, `${path}/${index}`, depth + 1));
      return { is: name, filters };
    }
    const relation = relationsOf(this.#registry, module).get(name);
    if (relation) return { is: 'related', relation, filter: this.filter(relation.target, value, path, depth + 1) };
    if (!filterableFields(module).includes(name))
      return this.#refuse(path, `is not a filter of ${module.typeName} records`, none);
    if (!isObject(value)) return this.#refuse(path, 'must be an object with comparisons', none);
    return { is: 'field', field: name, comparison: this.#comparison(module, name, value, path) };
  }

  #comparison(module: EntityModule, name: string, given: Json, path: string): Comparison {
    const operators = operatorsOf(module, name);
    const entries = Object.entries(given).map(([word, operand]): [string, unknown] => {
      const at = `${path}/${word}`;
      const operator = operators.find((one) => one.name === word);
      if (!operator)
        return this.#refuse(at, `is not a comparison; known are ${operators.map((one) => one.name).join(', ')}`, [
          word,
          null,
        ]);
      if (operator.operand === 'flag')
        return typeof operand === 'boolean' ? [word, operand] : this.#refuse(at, 'must be true or false', [word, null]);
      if (operator.operand === 'value') return [word, this.#operand(module, name, word, operand, at)];
      if (!Array.isArray(operand) || operand.length > maxOperandValues)
        return this.#refuse(at, `must be a list of at most ${maxOperandValues} values`, [word, null]);
      const values = operand.map((one: unknown, index) => this.#operand(module, name, word, one, `${at}/${index}`));
      return [word, values];
    });
    return Object.fromEntries(entries);
  }

  /** Choices are words of any case; a part of a text has any form, and so have the fields of every record. */
  #operand(module: EntityModule, name: string, operator: string, given: unknown, path: string): unknown {
    const field = module.fields[name];
    if (given === null || given === undefined) return this.#refuse(path, 'cannot be empty; use isNull', given);
    if (!field || ['contains', 'startsWith', 'has'].includes(operator) || field.type === 'reference')
      return typeof given === 'string' ? given : this.#refuse(path, 'must be a text', given);
    const value = field.type === 'choice' && typeof given === 'string' ? given.toLowerCase() : normalized(field, given);
    const problem = problemOf(field, value);
    return problem ? this.#refuse(path, problem.message, given) : value;
  }

  #refuse<T>(path: string, message: string, result: T): T {
    this.problems.push({ path, message });
    return result;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
