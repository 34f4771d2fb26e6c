import fc from 'fast-check';
import { newId } from '#entities/kit/base/ids.ts';
import type { Random } from '../random.ts';
import { hostileTexts, idOf, type FuzzIds } from './hostile-values.ts';

/** Keywords that are read of a JSON Schema (2020-12), as OpenAPI 3.1 has it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

const maxDepth = 6;

/** Makes values that a schema of an OpenAPI document accepts, as far as it says what it accepts. */
export class SchemaValues {
  readonly #document: unknown;
  readonly #ids: FuzzIds;
  readonly #texts = new Map<string, readonly string[]>();

  constructor(document: unknown, ids: FuzzIds) {
    this.#document = document;
    this.#ids = ids;
  }

  /** @param name of the property or parameter, from which the kind of an id follows */
  value(random: Random, given: JsonSchema, name = '', depth = 0): unknown {
    const schema = this.resolved(given);
    if ('const' in schema) return schema.const;
    if (schema.enum) return random.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices && choices.length > 0) return this.value(random, random.pick(choices), name, depth + 1);
    if (schema.allOf)
      return Object.assign({}, ...schema.allOf.map((part) => this.value(random, part, name, depth + 1))) as object;
    if (schema.examples && random.chance(0.5)) return random.pick(schema.examples);
    const { type } = schema;
    const one = Array.isArray(type) ? random.pick(type as readonly string[]) : type;
    switch (one) {
      case 'string':
        return this.#text(random, schema, name);
      case 'integer':
      case 'number': {
        const { minimum = 0, maximum = minimum + 100 } = schema;
        return minimum + random.below(Math.min(maximum - minimum, 1_000) + 1);
      }
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      case 'array': {
        const count = depth > maxDepth ? 0 : Math.max(schema.minItems ?? 0, random.below(3));
        return Array.from({ length: count }, () => this.value(random, schema.items ?? {}, name, depth + 1));
      }
      case 'object':
      case undefined:
      default:
        return schema.properties || one === 'object' ? this.#object(random, schema, depth) : {};
    }
  }

  resolved(schema: JsonSchema): JsonSchema {
    if (schema.$ref === undefined) return schema;
    const found = schema.$ref
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], this.#document);
    return this.resolved(found as JsonSchema);
  }

  #object(random: Random, { properties = {}, required = [] }: JsonSchema, depth: number): object {
    const chosen = Object.entries(properties).filter(
      ([name]) => required.includes(name) || (depth <= maxDepth && random.chance(0.35)),
    );
    return Object.fromEntries(chosen.map(([name, schema]) => [name, this.value(random, schema, name, depth + 1)]));
  }

  #text(random: Random, schema: JsonSchema, name: string): string {
    const { pattern, format, minLength = 0, maxLength = 60 } = schema;
    if (pattern?.includes('{25}') || /(?:^|_)ids?$/.test(name)) return idOf(random, this.#ids, kindOf(name));
    if (format === 'email') return `${newId().toLowerCase()}@example.com`;
    if (format === 'idn-hostname') return `${newId().toLowerCase()}.example`;
    if (format === 'uri') return 'https://93.184.216.34/hook';
    if (format === 'date-time') return new Date(Date.now() + random.below(1e9)).toISOString();
    if (format === 'date') return new Date(Date.now() + random.below(1e9)).toISOString().slice(0, 10);
    if (pattern !== undefined) return random.pick(this.#matching(pattern));
    if (random.chance(0.3)) return random.pick(hostileTexts).slice(0, maxLength).padEnd(minLength, 'x');
    return newId().padEnd(minLength, 'x').slice(0, maxLength);
  }

  /** Texts with a pattern; something else for patterns with parts that fast-check cannot follow. */
  #matching(pattern: string): readonly string[] {
    const known = this.#texts.get(pattern);
    if (known) return known;
    let texts: readonly string[] = hostileTexts;
    try {
      texts = fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { numRuns: 20, seed: 1 });
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('not implemented'))) throw error;
    }
    this.#texts.set(pattern, texts);
    return texts;
  }
}

/** `groupMembership` for `group_membership_id`. */
function kindOf(name: string): string {
  return name.replace(/_ids?$/, '').replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
