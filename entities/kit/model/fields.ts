import { Type, type TSchema } from 'typebox';
import { idPattern } from '../base/ids.ts';

/**
 * The vocabulary in which an entity file says what its records hold. A field is data: the table column, the input
 * validation, the GraphQL field and the filters are all derived from it.
 */
export interface Field<Value = unknown, Optional extends boolean = boolean, HasDefault extends boolean = boolean> {
  readonly type: FieldType;
  /** Becomes the GraphQL and reference documentation of the field. */
  readonly description: string;
  /** An optional field may be absent (null). */
  readonly optional: Optional;
  readonly default: HasDefault extends true ? Value : undefined;
  /** May be set at creation only. */
  readonly immutable: boolean;
  /** Never leaves the data layer: not in history, events, answers or logs. */
  readonly secret: boolean;
  /** Validates one present value. */
  readonly schema: TSchema;
  /** PostgreSQL column type. */
  readonly columnType: string;
  /** Allowed values, for `choice` fields. */
  readonly values?: readonly string[];
  /** Kind of the record referred to, for `reference` fields. */
  readonly target?: string;
  /** What becomes of a record when the one it refers to is deleted, for `reference` fields; nothing when left out. */
  readonly onDelete?: 'cascade';
  /** The person referred to must be a member of the record's organization; what becomes of the record when they leave it. */
  readonly onLeave?: 'cascade' | 'keep';
  /** What a caller must be able to do with the record it refers to, for `reference` fields. */
  readonly requires?: 'view' | 'edit';
  /** What a caller must also be able to do with a record that is there, to change this reference of it. */
  readonly moves?: 'remove';
  /** Name of the way back from the record referred to; the plural of the kind when left out. */
  readonly reverse?: string;
  /** Set by the machine; callers never name it. */
  readonly generated?: true;
  /** The person who creates the record, when the creation names nobody. */
  readonly creator?: true;
  /** Carries the value's type only. */
  readonly '~value'?: Value;
}

export type FieldType = 'text' | 'textList' | 'choice' | 'integer' | 'boolean' | 'timestamp' | 'reference' | 'json';

export type Fields = Readonly<Record<string, Field>>;

interface Options<Value> {
  readonly optional?: boolean;
  readonly default?: Value;
  readonly immutable?: boolean;
  readonly secret?: boolean;
}

type IsOptional<O> = O extends { readonly optional: true } ? true : false;
type IsDefaulted<O> = O extends { readonly default: {} } | { readonly creator: true } ? true : false;
type Made<Value, O> = Field<Value, IsOptional<O>, IsDefaulted<O>>;

function make<Value, const O extends Options<Value>>(
  type: FieldType,
  description: string,
  options: O,
  shape: Pick<Field, 'schema' | 'columnType'> & Partial<Field>,
): Made<Value, O> {
  const field: Field = {
    type,
    description,
    optional: options.optional ?? false,
    default: options.default,
    immutable: options.immutable ?? false,
    secret: options.secret ?? false,
    ...shape,
  };
  return field as Made<Value, O>;
}

/** Text of `min` to `max` characters (UTF-16 code units). `pattern` is anchored by the caller. */
export function text<const O extends Options<string> & { min?: number; max: number; pattern?: RegExp }>(
  description: string,
  options: O,
): Made<string, O> {
  return make<string, O>('text', description, options, {
    schema: Type.String({
      minLength: options.min ?? (options.optional ? 0 : 1),
      maxLength: options.max,
      ...(options.pattern ? { pattern: options.pattern.source } : {}),
    }),
    columnType: 'text',
  });
}

/** An e-mail address, stored in lower case (no citext: it is not leakproof and costs the index below the wall). */
export function email<const O extends Options<string>>(description: string, options: O = {} as O): Made<string, O> {
  return make<string, O>('text', description, options, {
    schema: Type.String({ format: 'email', minLength: 3, maxLength: 254 }),
    columnType: 'text',
  });
}

/** One of a closed list of lower-case words; a check constraint keeps the column honest. */
export function choice<const V extends readonly [string, ...string[]], const O extends Options<V[number]>>(
  description: string,
  values: V,
  options: O = {} as O,
): Made<V[number], O> {
  return make<V[number], O>('choice', description, options, {
    schema: Type.Union(values.map((value) => Type.Literal(value))),
    columnType: 'text',
    values,
  });
}

export function integer<const O extends Options<number> & { min: number; max: number }>(
  description: string,
  options: O,
): Made<number, O> {
  return make<number, O>('integer', description, options, {
    schema: Type.Integer({ minimum: options.min, maximum: options.max }),
    columnType: options.max > 2_147_483_647 ? 'bigint' : 'integer',
  });
}

export function flag<const O extends Options<boolean>>(description: string, options: O = {} as O): Made<boolean, O> {
  return make<boolean, O>('boolean', description, options, { schema: Type.Boolean(), columnType: 'boolean' });
}

/** An instant, kept with microseconds in UTC; RFC 3339 at the edges. */
export function timestamp<const O extends Options<Date>>(description: string, options: O = {} as O): Made<Date, O> {
  return make<Date, O>('timestamp', description, options, {
    schema: Type.String({ format: 'date-time', maxLength: 40 }),
    columnType: 'timestamptz',
  });
}

/** Several texts of up to `max` characters, `maxItems` at the most, in order. Empty, not absent, when there are none. */
export function textList(
  description: string,
  options: { readonly max: number; readonly maxItems: number },
): Field<string[], false, true> {
  const item = Type.String({ minLength: 1, maxLength: options.max });
  return make<string[], { readonly default: string[] }>(
    'textList',
    description,
    { default: [] },
    { schema: Type.Array(item, { maxItems: options.maxItems }), columnType: 'text[]' },
  );
}

/** A JSON document of up to `maxBytes`, which the product keeps and does not look into. */
export function json<const O extends Options<unknown> & { readonly maxBytes: number }>(
  description: string,
  options: O,
): Made<unknown, O> {
  return make<unknown, O>('json', description, options, {
    schema: Type.Refine(Type.Unknown(), (value) => Buffer.byteLength(JSON.stringify(value) ?? '') <= options.maxBytes),
    columnType: 'jsonb',
  });
}

interface ReferenceOptions extends Options<string> {
  readonly onDelete?: 'cascade';
  readonly requires?: 'view' | 'edit';
  readonly moves?: 'remove';
  readonly reverse?: string;
}

/**
 * A reference to a record of another kind; the field holds its id and its name ends in `Id`. Whoever sets it must be able to
 * view the record referred to, or more where `requires` says so. Where a record can be deleted by way of the one it refers to,
 * `moves` keeps who may only edit it from bringing it there.
 */
export function reference<const O extends ReferenceOptions>(
  target: string,
  description: string,
  options: O = {} as O,
): Made<string, O> {
  return make<string, O>('reference', description, options, {
    schema: Type.String({ pattern: idPattern.source }),
    columnType: 'text',
    target,
    requires: options.requires ?? 'view',
    ...(options.onDelete ? { onDelete: options.onDelete } : {}),
    ...(options.moves ? { moves: options.moves } : {}),
    ...(options.reverse ? { reverse: options.reverse } : {}),
  });
}

interface MemberOptions extends Options<string> {
  readonly onLeave: 'cascade' | 'keep';
  /** The creation may leave it out, and means the caller then. */
  readonly creator?: true;
  readonly reverse?: string;
}

/** A reference to a person who is a member of the record's organization. */
export function member<const O extends MemberOptions>(description: string, options: O): Made<string, O> {
  const made = reference('user', description, options);
  return {
    ...made,
    onLeave: options.onLeave,
    ...(options.onLeave === 'cascade' ? { onDelete: 'cascade' } : {}),
    ...(options.creator ? { creator: true } : {}),
  };
}

/** The stored value of a field as TypeScript sees it. */
export type FieldValue<F> =
  F extends Field<infer Value, infer Optional> ? (Optional extends true ? Value | null : Value) : never;

type RequiredAtCreation<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Field<unknown, false, false> ? Name : never;
}[keyof F];

/** What a creation needs: every field without a default that is not optional; the others may be left out. */
export type CreationInput<F extends Fields> = { readonly [Name in RequiredAtCreation<F>]: FieldValue<F[Name]> } & {
  readonly [Name in Exclude<keyof F, RequiredAtCreation<F>>]?: FieldValue<F[Name]>;
};

/** What a change may set. */
export type ChangeInput<F extends Fields> = { readonly [Name in keyof F]?: FieldValue<F[Name]> };

export type FieldValues<F extends Fields> = { readonly [Name in keyof F]: FieldValue<F[Name]> };
