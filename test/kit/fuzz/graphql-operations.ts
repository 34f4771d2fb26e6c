import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isUnionType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import type { InjectOptions } from 'fastify';
import { newId } from '#entities/kit/base/ids.ts';
import type { Random } from '../random.ts';
import { hostileText, hostileTexts, hostileValue, idOf, mutated, type FuzzIds } from './hostile-values.ts';

/** A field of the query or mutation type. */
export interface RootField {
  /** `mutation createTask`. */
  readonly name: string;
  readonly operation: 'query' | 'mutation';
  readonly field: GraphQLField<unknown, unknown>;
}

export function rootFieldsOf(schema: GraphQLSchema): RootField[] {
  const roots = { query: schema.getQueryType(), mutation: schema.getMutationType() } as const;
  return (['query', 'mutation'] as const).flatMap((operation) =>
    Object.values(roots[operation]?.getFields() ?? {}).map((field) => {
      return { name: `${operation} ${field.name}`, operation, field };
    }),
  );
}

interface Envelope {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

const maxDepth = 4;

/** Tokens that are put into documents where they do not belong. */
const tokens: readonly string[] = [
  ...'{}()[]!$:=@|&'.split(''),
  '...',
  '"',
  '"""',
  '\0',
  '\ufeff',
  '\ud800',
  'fragment',
  'on',
  'query',
  'mutation',
  'subscription',
  'null',
  '-1e999',
  '99999999999999999999',
  '#',
  '__typename',
  '__schema { types { name } }',
  '@include(if: true)',
  '@skip(if: $none)',
  '@deprecated',
  '@nope',
  '...f',
  '... on User { id }',
  'a: id',
];

/** Makes GraphQL operations that the schema allows, most of them with something wrong in values, in the text or around it. */
export class GraphqlOperations {
  readonly #ids: FuzzIds;

  constructor(ids: FuzzIds) {
    this.#ids = ids;
  }

  request(random: Random, root: RootField): InjectOptions {
    const wrong = random.pick(['nothing', 'values', 'values', 'values', 'text', 'envelope'] as const);
    let { query, variables } = this.#operation(random, root, wrong === 'values');
    if (wrong === 'text') query = this.#brokenText(random, query);
    if (wrong === 'values') variables = this.#wrongVariables(random, variables);
    if (wrong === 'envelope') return this.#brokenEnvelope(random, { query, variables });
    return { method: 'POST', url: '/graphql', payload: JSON.stringify({ query, variables }), headers: json };
  }

  #wrongVariables(random: Random, variables: Envelope['variables']): Envelope['variables'] {
    let wrong = mutated(random, variables, this.#ids);
    while (random.chance(0.3)) wrong = mutated(random, wrong, this.#ids);
    // A value that is not an object is a case of `#brokenEnvelope`.
    const isObject = typeof wrong === 'object' && wrong !== null && !Array.isArray(wrong);
    return isObject ? (wrong as Envelope['variables']) : variables;
  }

  #operation(random: Random, { operation, field }: RootField, isWrong: boolean): Envelope {
    const variables: Record<string, unknown> = {};
    const declared: string[] = [];
    const given = field.args.filter(({ type }) => isNonNullType(type) || random.chance(0.35));
    const passed = given.map(({ name, type }) => {
      const value = this.#value(random, type, name);
      if (random.chance(0.3)) return `${name}: ${literal(type, isWrong ? mutated(random, value, this.#ids) : value)}`;
      variables[name] = value;
      declared.push(`$${name}: ${String(type)}`);
      return `${name}: $${name}`;
    });
    const head = declared.length === 0 ? operation : `${operation} q(${declared.join(', ')})`;
    const args = passed.length === 0 ? '' : `(${passed.join(', ')})`;
    return { query: `${head} { ${field.name}${args}${this.#selection(random, field.type, 0)} }`, variables };
  }

  #selection(random: Random, type: GraphQLOutputType, depth: number): string {
    const named = getNamedType(type);
    if (!isCompositeType(named)) return '';
    if (isUnionType(named)) return ' { __typename }';
    const all = Object.values(named.getFields());
    const chosen = random.shuffled(all).slice(0, 1 + random.below(5));
    const selected = chosen.flatMap((field) => {
      const isDeep = isCompositeType(getNamedType(field.type));
      if (isDeep && depth >= maxDepth) return [];
      const required = field.args.filter((arg) => isNonNullType(arg.type) || random.chance(0.1));
      const args = required.map((arg) => `${arg.name}: ${literal(arg.type, this.#value(random, arg.type, arg.name))}`);
      const alias = random.chance(0.05) ? 'alias: ' : '';
      return `${alias}${field.name}${args.length === 0 ? '' : `(${args.join(', ')})`}${this.#selection(random, field.type, depth + 1)}`;
    });
    return ` { ${['__typename', ...selected].join(' ')} }`;
  }

  #value(random: Random, given: GraphQLInputType, name: string, depth = 0): unknown {
    if (!isNonNullType(given) && random.chance(0.05)) return null;
    const type = getNullableType(given);
    if (isListType(type)) {
      const count = depth > maxDepth ? 0 : random.below(3);
      return Array.from({ length: count }, () => this.#value(random, type.ofType, name, depth + 1));
    }
    if (isEnumType(type)) return random.pick(type.getValues()).name;
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter(
        (field) => isNonNullType(field.type) || (depth < maxDepth && random.chance(3 / (depth + 8))),
      );
      return Object.fromEntries(
        fields.map((field) => [field.name, this.#value(random, field.type, field.name, depth + 1)]),
      );
    }
    return this.#scalar(random, type.name, name);
  }

  #scalar(random: Random, type: string, name: string): unknown {
    const isId = type === 'ID' || /(?:Id|^id|Ids|^ids|^in|^eq)$/.test(name);
    switch (type) {
      case 'Int':
        return random.below(40);
      case 'Float':
        return random.next() * 100;
      case 'Boolean':
        return random.chance(0.5);
      case 'Upload':
        return null;
      case 'JSON':
        return random.chance(0.5) ? { a: [1, 'x', null] } : hostileValue(random, this.#ids);
      default:
        if (/time|date/i.test(type)) return new Date(Date.now() + random.below(1e9)).toISOString();
        if (isId) return idOf(random, this.#ids, name.replace(/Ids?$/, ''));
        if (name === 'csv') return `title,name\n${hostileText(random, this.#ids)},x\n`;
        return random.chance(0.5) ? newId() : hostileText(random, this.#ids).slice(0, 100);
    }
  }

  #brokenText(random: Random, query: string): string {
    const words = query.match(/\w+|"(?:[^"\\]|\\.)*"|\S/g) ?? [];
    const at = random.below(words.length);
    switch (random.below(9)) {
      case 0:
        return query.slice(0, random.below(query.length));
      case 1:
        return words.toSpliced(at, 1).join(' ');
      case 2:
        return words.toSpliced(at, 0, random.pick(tokens)).join(' ');
      case 3:
        return words.toSpliced(at, 1, random.pick(tokens)).join(' ');
      case 4:
        return words.toSpliced(at, 0, ...words.slice(at, at + 20)).join(' ');
      case 5:
        return `${query} fragment f on Query { ...g } fragment g on Query { ...f }`;
      case 6:
        return `${query} ${query}`;
      case 7:
        return query.replace('{', `{ ${Array.from({ length: 200 }, (_each, n) => `a${n}: __typename`).join(' ')} `);
      default:
        return query.replace('{', `${'{ self '.repeat(random.below(80))}{`);
    }
  }

  #brokenEnvelope(random: Random, { query, variables }: Envelope): InjectOptions {
    const hash = { persistedQuery: { version: 1, sha256Hash: random.pick(['0'.repeat(64), 'x', ...hostileTexts]) } };
    const hostile = () => hostileValue(random, this.#ids);
    const payload = random.pick<() => unknown>([
      () => ({ query, variables, operationName: random.pick(['nope', '', ...hostileTexts]) }),
      () => ({ query, variables: hostile() }),
      () => ({ query: hostile(), variables }),
      () => ({ query, variables, extensions: random.chance(0.5) ? hash : hostile() }),
      () => ({ extensions: hash }),
      () => ({ query, variables, [random.pick(hostileTexts)]: hostile() }),
      () => [{ query, variables }],
      () => Array.from({ length: 50 }, () => ({ query, variables })),
      () => ({}),
      hostile,
    ])();
    if (random.chance(0.3)) {
      const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables).slice(0, 5_000) });
      if (random.chance(0.3)) parameters.set('variables', hostileText(random, this.#ids).slice(0, 2_000));
      if (random.chance(0.3)) parameters.append('query', query);
      return { method: 'GET', url: `/graphql?${parameters}` };
    }
    return { method: 'POST', url: '/graphql', payload: JSON.stringify(payload), headers: json };
  }
}

const json = { 'content-type': 'application/json' };

/** Depth of the deepest value that is written into a document; deeper ones go as variables. */
const maxLiteralDepth = 200;

/** A value as it is written into a document. */
function literal(given: GraphQLInputType, value: unknown, depth = 0): string {
  if (depth > maxLiteralDepth) return 'null';
  const type = getNullableType(given);
  if (Array.isArray(value)) {
    const items = isListType(type) ? type.ofType : type;
    return `[${value.map((each) => literal(items, each, depth + 1)).join(', ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const fields = isInputObjectType(type) ? type.getFields() : {};
    const entries = Object.entries(value).filter(([name]) => /^[A-Za-z_]\w*$/.test(name));
    return `{ ${entries.map(([name, each]) => `${name}: ${literal(fields[name]?.type ?? type, each, depth + 1)}`).join(', ')} }`;
  }
  if (isEnumType(type) && typeof value === 'string' && /^\w+$/.test(value)) return value;
  return JSON.stringify(value) ?? 'null';
}
