import type { InjectOptions } from 'fastify';
import { recordNames } from '#api/rest/records/record-names.ts';
import { registry } from '#entities/index.ts';
import { resolved, type DescribedApi } from '../http/described-api.ts';
import { formOf } from '../files/multipart-form.ts';
import type { Random } from '../random.ts';
import { hostileText, hostileTexts, hostileValue, idOf, mutated, type FuzzIds } from './hostile-values.ts';
import { SchemaValues, type JsonSchema } from './schema-values.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
}

interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
}

/** One operation of the description of the API. */
export interface RestOperation {
  /** `GET /v1/tasks/{id}`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly described: Described;
}

export function operationsOf(document: DescribedApi): RestOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const upper = method.toUpperCase();
      return { name: `${upper} ${path}`, method: upper, path, described: resolved(document, described) };
    }),
  );
}

/** The kind whose records stand below a path, by the path. */
const kindsByPath = new Map(registry.modules.map((module) => [recordNames(module).path, module.kind]));

type Part = 'nothing' | 'body' | 'raw body' | 'query' | 'path' | 'headers';

/** Makes requests that the description of the API allows, most of them with something wrong in one place or in several. */
export class RestRequests {
  readonly #values: SchemaValues;
  readonly #ids: FuzzIds;

  constructor(document: DescribedApi, ids: FuzzIds) {
    this.#values = new SchemaValues(document, ids);
    this.#ids = ids;
  }

  request(random: Random, operation: RestOperation): InjectOptions {
    const wrong = new Set<Part>([
      random.pick<Part>(['nothing', 'body', 'body', 'body', 'raw body', 'query', 'path', 'headers']),
      ...(random.chance(0.2) ? [random.pick<Part>(['body', 'query', 'path', 'headers'])] : []),
    ]);
    const query = this.#query(random, operation, wrong.has('query'));
    const body = this.#body(random, operation, wrong);
    return {
      method: operation.method,
      url: `${this.#path(random, operation, wrong.has('path'))}${query === '' ? '' : `?${query}`}`,
      ...(body.payload === undefined ? {} : { payload: body.payload }),
      headers: {
        ...(operation.path.includes('/uploads') && random.chance(0.9) ? { 'tus-resumable': '1.0.0' } : {}),
        ...body.headers,
        ...(wrong.has('headers') ? this.#headers(random) : {}),
      },
    };
  }

  #path(random: Random, { path }: RestOperation, isWrong: boolean): string {
    const [, base = ''] = /^(\/v1\/[a-z-]+)/.exec(path) ?? [];
    const kind = kindsByPath.get(base);
    const replaced = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
      if (isWrong) return encoded(hostileText(random, this.#ids));
      return idOf(random, this.#ids, name === 'id' ? kind : name.replace(/Id$/, ''));
    });
    if (!isWrong || replaced !== path) return replaced;
    return replaced + random.pick(['/', '//', '/.', '/..%2f', '%2e%2e', ';a=b', '.json', '/%00', '#x', '\u00e9']);
  }

  #query(random: Random, { described: { parameters = [] } }: RestOperation, isWrong: boolean): string {
    const known = parameters.filter((parameter) => parameter.in === 'query');
    const chosen = known.filter(({ required }) => required || random.chance(isWrong ? 0.15 : 0.05));
    const pairs = chosen.map(({ name, schema = {} }) => {
      const value = isWrong ? hostileText(random, this.#ids) : this.#values.value(random, schema, name);
      return `${encodeURIComponent(name)}=${encoded(typeof value === 'string' ? value : JSON.stringify(value))}`;
    });
    if (isWrong && random.chance(0.4)) {
      const name = random.pick([
        'a',
        '__proto__',
        'first',
        'first[gt]',
        'first[]',
        'filter[a][b]',
        'after',
        'order_by',
      ]);
      pairs.push(`${random.chance(0.5) ? name : encodeURIComponent(name)}=${encoded(hostileText(random, this.#ids))}`);
    }
    if (isWrong && pairs.length > 0 && random.chance(0.3)) pairs.push(random.pick(pairs));
    return pairs.join('&');
  }

  #body(random: Random, { described }: RestOperation, wrong: ReadonlySet<Part>): InjectOptions & { headers: object } {
    const content = Object.entries(described.requestBody?.content ?? {});
    if (wrong.has('raw body')) return this.#rawBody(random);
    const [type = '', { schema = {} } = {}] = content.length > 0 ? random.pick(content) : [];
    if (type === '') {
      const payload = wrong.has('body') ? (hostileValue(random, this.#ids) as object) : undefined;
      return payload === undefined ? { headers: {} } : json(payload);
    }
    if (type === 'application/json') {
      const right = this.#values.value(random, schema);
      if (!wrong.has('body')) return json(right);
      let value = mutated(random, right, this.#ids);
      while (random.chance(0.3)) value = mutated(random, value, this.#ids);
      return json(value);
    }
    if (type === 'multipart/form-data') return this.#form(random, wrong.has('body'));
    const bytes = Buffer.from(random.pick(hostileTexts));
    const offset = random.pick(['0', '0', '1', '-1', 'x', '9999999999999']);
    return {
      payload: bytes,
      headers: { 'content-type': type === '*/*' ? 'text/plain' : type, 'upload-offset': offset },
    };
  }

  #form(random: Random, isWrong: boolean): InjectOptions & { headers: object } {
    const part = () => ({
      field: random.pick(['uploadFile', 'uploadFile', 'file', '', '__proto__', 'a"b', 'operations', 'map', '0']),
      ...(random.chance(0.8) ? { name: random.pick(['notes.txt', 'x.png', ...hostileTexts]) } : {}),
      ...(random.chance(0.5) ? { type: random.pick(['text/plain', 'image/png', 'a', '*/*', 'x'.repeat(500)]) } : {}),
      content: random.pick(['Some notes.', ...hostileTexts]),
    });
    const { payload, type } = formOf(Array.from({ length: random.below(isWrong ? 30 : 3) }, part));
    const boundary = isWrong && random.chance(0.3) ? random.pick(['', '; boundary=', '; boundary=x']) : undefined;
    const cut = isWrong && random.chance(0.3) ? random.below(payload.length) : payload.length;
    return {
      payload: payload.subarray(0, cut),
      headers: { 'content-type': boundary === undefined ? type : `multipart/form-data${boundary}` },
    };
  }

  #rawBody(random: Random): InjectOptions & { headers: object } {
    const payload = random.pick<string | Buffer>([
      '',
      '{',
      '{"a":1}{"b":2}',
      '{"a":1,"a":2}',
      '[',
      '"x"',
      '1e999',
      '-',
      '{"a":NaN}',
      '\ufeff{}',
      '<xml/>',
      'a=b&c=d',
      '['.repeat(5_000),
      '{"a":'.repeat(5_000),
      `{"a":"${'\\u0000'.repeat(10)}"}`,
      `{"${'x'.repeat(100_000)}":1}`,
      Buffer.from([0xff, 0xfe, 0x00]),
      Buffer.alloc(2_000, 0x80),
      Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
      Buffer.alloc(1_100_000, 0x20),
    ]);
    const types = ['application/json', 'application/json; charset=utf-16', 'text/plain', 'application/xml', '', ';;'];
    const more = random.chance(0.2)
      ? { 'content-encoding': random.pick(['gzip', 'br', 'identity', 'x', 'gzip, gzip', '']) }
      : {};
    return { payload, headers: { 'content-type': random.pick(types), ...more } };
  }

  /** Headers that the application reads, with values that they do not have. Bytes that no HTTP parser lets pass are left out. */
  #headers(random: Random): Record<string, string> {
    const names = [
      'accept',
      'accept-encoding',
      'accept-language',
      'authorization',
      'content-type',
      'cookie',
      'host',
      'idempotency-key',
      'if-match',
      'if-modified-since',
      'if-none-match',
      'origin',
      'range',
      'referer',
      'sec-fetch-site',
      'traceparent',
      'tracestate',
      'tus-resumable',
      'upload-length',
      'upload-metadata',
      'upload-offset',
      'user-agent',
      'x-api-key',
      'x-csrf-token',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-http-method-override',
      'x-organization-id',
      'x-request-id',
      'x-support-session',
    ];
    const value = () => {
      const scheme = random.chance(0.2) ? random.pick(['Bearer ', 'Basic ', 'bytes=', '"', 'W/"']) : '';
      const text = `${scheme}${hostileText(random, this.#ids)}`;
      return Buffer.from(text.replaceAll(/\p{Cc}/gu, ' ').slice(0, 4_000)).toString('latin1');
    };
    return Object.fromEntries(Array.from({ length: 1 + random.below(4) }, () => [random.pick(names), value()]));
  }
}

function json(value: unknown): InjectOptions & { headers: object } {
  return { payload: JSON.stringify(value), headers: { 'content-type': 'application/json' } };
}

/** With percent signs, where it can be; halves of surrogate pairs have no encoding. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
