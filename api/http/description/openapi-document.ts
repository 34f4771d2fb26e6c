import { isPlainObject } from '#config/schema/is-plain-object.ts';

/** Parts of a JSON Schema (2020-12) that are read and changed in a description. */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly examples?: readonly unknown[];
  readonly $ref?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly [keyword: string]: unknown;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  /** Codes of the errors, for problem documents (`errorAnswers`). */
  readonly 'x-codes'?: readonly string[];
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

export interface Reference {
  readonly $ref: string;
}

export interface Response {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Readonly<Record<string, MediaType>> };
  readonly responses?: Readonly<Record<string, Response | Reference>>;
  /** Headers of successful answers, besides those of all (`answerHeadersOf`). */
  readonly 'x-answer-headers'?: readonly string[];
  readonly 'x-body-optional'?: true;
  readonly [member: string]: unknown;
}

export interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly responses?: Readonly<Record<string, Response>>;
    readonly [part: string]: unknown;
  };
  readonly [member: string]: unknown;
}

/** The operations of a part of a document, changed one by one. */
export function mapOperations(
  items: OpenApiDocument['paths'] = {},
  change: (operation: Operation, method: string) => Operation,
): NonNullable<OpenApiDocument['paths']> {
  return mapValues(items, (methods) => mapValues(methods, change));
}

export function mapValues<From, To>(
  values: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}

/** The schema with the schemas directly within it changed one by one. */
export function mapParts(schema: Schema, change: (part: Schema) => Schema): Schema {
  return mapValues(schema, (value, keyword) => {
    if (keyword === 'properties' || keyword === '$defs') return mapValues(value as Record<string, Schema>, change);
    if (keyword === 'items' || keyword === 'additionalProperties' || keyword === 'not')
      return isPlainObject(value) ? change(value) : value;
    if (keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf')
      return (value as readonly Schema[]).map(change);
    return value;
  });
}
