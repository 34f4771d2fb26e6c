import { Type, type TSchema } from 'typebox';
import { idPattern } from '../base/ids.ts';

/**
 * A field of a kind, as an entity file declares it. A field is data: its column, input validation, GraphQL field and filters
 * are derived from it.
 */
export interface Field<Value = unknown, Optional extends boolean = boolean, HasDefault extends boolean = boolean> {
  readonly type: FieldType;
  /** Becomes the GraphQL and reference documentation of the field. */
  readonly description: string;
  /** An optional field may be absent (null). */
  readonly optional: Optional;
  readonly default: HasDefault extends true ? Value : undefined;
  /** Can be set at creation only. */
  readonly immutable: boolean;
  /** Never leaves the data layer: excluded from history, events, answers and logs. */
  readonly secret: boolean;
  /** Validates one present value. */
  readonly schema: TSchema;
  /** PostgreSQL column type. */
  readonly columnType: string;
  /** Allowed values, for `choice` fields. */
  readonly values?: readonly string[];
  /** Kind of the target record, for `reference` fields. */
  readonly target?: string;
  /** For names: brought into one form before it is checked and stored (`oneForm`), and refused where characters deceive (`nameProblem`). */
  readonly isName?: true;
  /** For `reference` fields: `cascade` deletes the record together with its target; absent: the target cannot be deleted while the reference exists. */
  readonly onDelete?: 'cascade';
  /** The person referred to must be a member of the record's organization. When the person leaves it, the record is deleted (`cascade`) or kept. */
  readonly onLeave?: 'cascade' | 'keep';
  /** For `reference` fields: the right to the target record that a caller needs to set the reference. */
  readonly requires?: 'view' | 'edit';
  /** A further right to the record itself that a caller needs to change this reference of an existing record. */
  readonly moves?: 'remove';
  /** Name of the reverse connection on the target record; default: the plural of the kind. */
  readonly reverse?: string;
  /** An address that comes into the product with new records: the APIs check it as `ormconfig.emailvalidation` says. */
  readonly isChecked?: true;
  /** Set by the server; callers cannot set it. */
  readonly generated?: true;
  /** Defaults to the person who creates the record. */
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

/** Forbids options that a type of field does not have: a type parameter alone accepts any. */
type Exact<O, Known> = { readonly [Name in Exclude<keyof O, keyof Known>]: never };

const commonOptions = ['optional', 'default', 'immutable', 'secret'];

/** @param more names of the options besides those of all fields @throws TypeError for an option with another name */
function make<Value, const O extends Options<Value>>(
  type: FieldType,
  description: string,
  options: O,
  shape: Pick<Field, 'schema' | 'columnType'> & Partial<Field>,
  more: readonly string[] = [],
): Made<Value, O> {
  const known = [...commonOptions, ...more];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`field "${description}": "${unknown}" is not an option; options are ${known.join(', ')}`);
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

interface TextOptions extends Options<string> {
  readonly min?: number;
  readonly max: number;
  readonly pattern?: RegExp;
}

type EmailOptions = Options<string> & { readonly checked?: true };

type SingleLineOptions = Options<string> & { readonly min: number; readonly max: number };

interface IntegerOptions extends Options<number> {
  readonly min: number;
  readonly max: number;
}

type JsonOptions = Options<unknown> & { readonly maxBytes: number };

/** Text of `min` to `max` characters (UTF-16 code units). `pattern` is anchored by the caller. */
export function text<const O extends TextOptions>(
  description: string,
  options: O & Exact<O, TextOptions>,
): Made<string, O> {
  const { min, max, pattern, optional }: TextOptions = options;
  const schema = Type.String({
    minLength: min ?? (optional ? 0 : 1),
    maxLength: max,
    ...(pattern ? { pattern: pattern.source } : {}),
  });
  return make<string, O>('text', description, options, { schema, columnType: 'text' }, ['min', 'max', 'pattern']);
}

/**
 * A name in one line. Compatibility forms and white space are brought into one form (base/name-form.ts), and characters that nobody
 * sees or that look like others are refused, so that two names that look alike are the same or are both plain.
 */
export function singleLine<const O extends SingleLineOptions>(
  description: string,
  options: O & Exact<O, SingleLineOptions>,
): Made<string, O> {
  const { min, max }: SingleLineOptions = options;
  const schema = Type.String({ minLength: min, maxLength: max });
  return make<string, O>('text', description, options, { schema, columnType: 'text', isName: true }, ['min', 'max']);
}

/** An e-mail address, stored in lower case (not citext: its operators are not leakproof, so row-level security would keep an index from being used). */
export function email<const O extends EmailOptions>(
  description: string,
  options: O & Exact<O, EmailOptions> = {} as O & Exact<O, EmailOptions>,
): Made<string, O> {
  const { checked }: EmailOptions = options;
  const shape = {
    schema: Type.String({ format: 'email', minLength: 3, maxLength: 254 }),
    columnType: 'text',
    ...(checked ? { isChecked: checked } : {}),
  };
  return make<string, O>('text', description, options, shape, ['checked']);
}

/** One of a closed list of lower-case words; the column has a check constraint. */
export function choice<const V extends readonly [string, ...string[]], const O extends Options<V[number]>>(
  description: string,
  values: V,
  options: O & Exact<O, Options<V[number]>> = {} as O & Exact<O, Options<V[number]>>,
): Made<V[number], O> {
  return make<V[number], O>('choice', description, options, {
    schema: Type.Union(values.map((value) => Type.Literal(value))),
    columnType: 'text',
    values,
  });
}

export function integer<const O extends IntegerOptions>(
  description: string,
  options: O & Exact<O, IntegerOptions>,
): Made<number, O> {
  const { min, max }: IntegerOptions = options;
  const schema = Type.Integer({ minimum: min, maximum: max });
  const columnType = max > 2_147_483_647 ? 'bigint' : 'integer';
  return make<number, O>('integer', description, options, { schema, columnType }, ['min', 'max']);
}

export function flag<const O extends Options<boolean>>(
  description: string,
  options: O & Exact<O, Options<boolean>> = {} as O & Exact<O, Options<boolean>>,
): Made<boolean, O> {
  return make<boolean, O>('boolean', description, options, { schema: Type.Boolean(), columnType: 'boolean' });
}

/** An instant, stored in UTC with microseconds; RFC 3339 in the APIs. */
export function timestamp<const O extends Options<Date>>(
  description: string,
  options: O & Exact<O, Options<Date>> = {} as O & Exact<O, Options<Date>>,
): Made<Date, O> {
  return make<Date, O>('timestamp', description, options, {
    schema: Type.String({ format: 'date-time', maxLength: 40 }),
    columnType: 'timestamptz',
  });
}

/** A list of up to `maxItems` texts of up to `max` characters. Its default is the empty list, not null. */
export function textList(
  description: string,
  options: { readonly max: number; readonly maxItems: number },
): Field<string[], false, true> {
  const { max, maxItems } = options;
  const schema = Type.Array(Type.String({ minLength: 1, maxLength: max }), { maxItems });
  const given = { ...options, default: [] as string[] };
  return make<string[], { readonly default: string[] }>(
    'textList',
    description,
    given,
    { schema, columnType: 'text[]' },
    ['max', 'maxItems'],
  );
}

/** A JSON document of up to `maxBytes`, stored as it is given. */
export function json<const O extends JsonOptions>(
  description: string,
  options: O & Exact<O, JsonOptions>,
): Made<unknown, O> {
  const { maxBytes }: JsonOptions = options;
  const schema = Type.Refine(
    Type.Unknown(),
    (value) => jsonSize(value) <= maxBytes,
    (value) => `must have at most ${maxBytes} bytes as JSON; it has ${jsonSize(value)}`,
  );
  return make<unknown, O>('json', description, options, { schema, columnType: 'jsonb' }, ['maxBytes']);
}

function jsonSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

interface ReferenceOptions extends Options<string> {
  readonly onDelete?: 'cascade';
  readonly requires?: 'view' | 'edit';
  readonly moves?: 'remove';
  readonly reverse?: string;
}

/**
 * A reference to a record, usually of another kind; the field holds its id, and the field's name ends in `Id`. A caller who sets
 * it needs the right to view the target record, or the right in `requires`. `moves: 'remove'`: setting it also needs the right to
 * delete the record, because people with rights to the new target could delete it.
 */
export function reference<const O extends ReferenceOptions>(
  target: string,
  description: string,
  options: O & Exact<O, ReferenceOptions> = {} as O & Exact<O, ReferenceOptions>,
): Made<string, O> {
  const { onDelete, requires = 'view', moves, reverse }: ReferenceOptions = options;
  const shape = {
    schema: Type.String({ pattern: idPattern.source }),
    columnType: 'text',
    target,
    requires,
    ...(onDelete ? { onDelete } : {}),
    ...(moves ? { moves } : {}),
    ...(reverse ? { reverse } : {}),
  };
  return make<string, O>('reference', description, options, shape, ['onDelete', 'requires', 'moves', 'reverse']);
}

interface MemberOptions extends Options<string> {
  readonly onLeave: 'cascade' | 'keep';
  /** Defaults to the caller at creation. */
  readonly creator?: true;
  readonly reverse?: string;
}

/** A reference to a person who is a member of the record's organization. */
export function member<const O extends MemberOptions>(
  description: string,
  options: O & Exact<O, MemberOptions>,
): Made<string, O> {
  const { onLeave, creator, ...rest }: MemberOptions = options;
  const made = {
    ...reference('user', description, rest),
    onLeave,
    ...(onLeave === 'cascade' ? { onDelete: 'cascade' } : {}),
    ...(creator ? { creator } : {}),
  };
  // Its type follows from all options.
  return made as unknown as Made<string, O>;
}

/** The stored value of a field as TypeScript sees it. */
export type FieldValue<F> =
  F extends Field<infer Value, infer Optional> ? (Optional extends true ? Value | null : Value) : never;

type RequiredAtCreation<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Field<unknown, false, false> ? Name : never;
}[keyof F];

/** Input of a creation: fields that are neither optional nor have a default are required. */
export type CreationInput<F extends Fields> = { readonly [Name in RequiredAtCreation<F>]: FieldValue<F[Name]> } & {
  readonly [Name in Exclude<keyof F, RequiredAtCreation<F>>]?: FieldValue<F[Name]>;
};

/** Input of a change; every field may be left out. */
export type ChangeInput<F extends Fields> = { readonly [Name in keyof F]?: FieldValue<F[Name]> };

export type FieldValues<F extends Fields> = { readonly [Name in keyof F]: FieldValue<F[Name]> };
