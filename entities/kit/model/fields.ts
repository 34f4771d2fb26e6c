import { Type } from 'typebox';
import { idPattern } from '../base/ids.ts';
import { describedKeyword } from './described-schema.ts';
import { mentionNote } from './mentions.ts';
import {
  make,
  type Exact,
  type Field,
  type FieldUse,
  type ListUse,
  type Made,
  type Options,
} from './declared-field.ts';

interface TextOptions extends Options<string, ListUse> {
  readonly min?: number;
  readonly max: number;
  readonly pattern?: RegExp;
  readonly mentions?: true;
  /** The text can have more than one line. */
  readonly lines?: true;
}

type EmailOptions = Options<string, ListUse> & { readonly checked?: true };

type SingleLineOptions = Options<string, ListUse> & { readonly min: number; readonly max: number };

interface IntegerOptions extends Options<number> {
  readonly min: number;
  readonly max: number;
}

interface DecimalOptions extends Options<string> {
  /** Number of digits, at most 38. */
  readonly precision: number;
  /** Number of digits after the point. */
  readonly scale: number;
}

type JsonOptions = Options<unknown, never> & {
  readonly maxBytes: number;
  /** Documents that are accepted, for the description of the API. */
  readonly examples?: readonly unknown[];
};

/** Text of `min` to `max` characters (UTF-16 code units), in one line unless it has `lines`. `pattern` is anchored by the caller. `mentions`: see mentions.ts. */
export function text<const O extends TextOptions>(
  description: string,
  options: O & Exact<O, TextOptions>,
): Made<string, O> {
  const { min, max, pattern, optional, mentions, lines }: TextOptions = options;
  const schema = Type.String({
    minLength: min ?? (optional ? 0 : 1),
    maxLength: max,
    ...(pattern ? { pattern: pattern.source } : {}),
  });
  const described = mentions ? `${description} ${mentionNote}` : description;
  const shape = {
    schema,
    columnType: 'text',
    ...(mentions ? { hasMentions: mentions } : {}),
    ...(lines ? {} : { isOneLine: true as const }),
  };
  return make<string, O>('text', described, options, shape, ['min', 'max', 'pattern', 'mentions', 'lines']);
}

/** A colour that distinguishes records of an organization. */
export function color(use: FieldUse = {}) {
  return text('Colour in the form #rrggbb.', { max: 7, pattern: /^#[0-9a-f]{6}$/, default: '#888888', ...use });
}

interface SealedOptions {
  readonly max: number;
  readonly exposed?: 'write';
  readonly optional?: boolean;
}

/** A secret text that callers give and only the server uses: it is encrypted in the table, and no answer, history or event has it. */
export function sealed<const O extends SealedOptions>(
  description: string,
  options: O & Exact<O, SealedOptions>,
): Made<string, O> {
  const { max, optional = false, ...use }: SealedOptions = options;
  const schema = Type.String({ minLength: 1, maxLength: max });
  const made = make<string, Options<string>>(
    'text',
    description,
    { optional, secret: true, ...use },
    {
      schema,
      columnType: 'text',
      isSealed: true,
    },
  );
  return made as Made<string, O>;
}

/** A name in one line: characters that nobody sees or that look like those of another script are refused (base/name-form.ts). */
export function singleLine<const O extends SingleLineOptions>(
  description: string,
  options: O & Exact<O, SingleLineOptions>,
): Made<string, O> {
  const { min, max }: SingleLineOptions = options;
  const schema = Type.String({ minLength: min, maxLength: max });
  return make<string, O>('text', description, options, { schema, columnType: 'text', isName: true, isOneLine: true }, [
    'min',
    'max',
  ]);
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

/**
 * An exact decimal number, as text with `scale` digits after the point: numbers of JSON and of JavaScript would round it. It is not
 * negative.
 */
export function decimal<const O extends DecimalOptions>(
  description: string,
  options: O & Exact<O, DecimalOptions>,
): Made<string, O> {
  const { precision, scale }: DecimalOptions = options;
  const schema = Type.String({
    format: 'decimal',
    pattern: `^(0|[1-9]\\d{0,${precision - scale - 1}})(\\.\\d{1,${scale}})?$`,
    maxLength: precision + 1,
  });
  const shape = { schema, columnType: `numeric(${precision},${scale})`, scale };
  return make<string, O>('decimal', description, options, shape, ['precision', 'scale']);
}

export function flag<const O extends Options<boolean>>(
  description: string,
  options: O & Exact<O, Options<boolean>> = {} as O & Exact<O, Options<boolean>>,
): Made<boolean, O> {
  return make<boolean, O>('boolean', description, options, { schema: Type.Boolean(), columnType: 'boolean' });
}

/** A day without a time and a time zone, as text: `2026-01-31`. */
export function date<const O extends Options<string>>(
  description: string,
  options: O & Exact<O, Options<string>> = {} as O & Exact<O, Options<string>>,
): Made<string, O> {
  const schema = Type.String({ format: 'date', maxLength: 10 });
  return make<string, O>('date', description, options, { schema, columnType: 'date' });
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

export interface TextListOptions extends FieldUse<'filter'> {
  readonly max: number;
  readonly maxItems: number;
}

/** A list of up to `maxItems` texts of up to `max` characters. Its default is the empty list, not null. */
export function textList(description: string, options: TextListOptions): Field<string[], false, true> {
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

/** A JSON document of up to `maxBytes`, stored as it is given; whole numbers that JavaScript would round are refused. */
export function json<const O extends JsonOptions>(
  description: string,
  options: O & Exact<O, JsonOptions>,
): Made<unknown, O> {
  const { maxBytes, examples }: JsonOptions = options;
  const schema = Type.Refine(
    Type.Unknown(examples && { examples, [describedKeyword]: { examples } }),
    (value) => jsonSize(value) <= maxBytes,
    (value) => `must have at most ${maxBytes} bytes as JSON; it has ${jsonSize(value)}`,
  );
  return make<unknown, O>('json', description, options, { schema, columnType: 'jsonb' }, ['maxBytes', 'examples']);
}

function jsonSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

interface ReferenceOptions extends Options<string> {
  readonly onDelete?: 'cascade';
  readonly requires?: 'view' | 'edit';
  readonly moves?: 'remove';
  readonly reverse?: string;
  readonly only?: Readonly<Record<string, readonly string[]>>;
  readonly announcesLeaving?: string;
}

/**
 * A reference to a record, usually of another kind; the field holds its id, and the field's name ends in `Id`. A caller who sets it needs
 * the right to view the target record, or the right in `requires`. `moves: 'remove'`: setting it also needs the right to delete the record,
 * because people with rights to the new target could delete it. `only`: records with other values are treated as missing.
 * `announcesLeaving`: verb of the custom event that a deletion of the record records.
 */
export function reference<const O extends ReferenceOptions>(
  target: string,
  description: string,
  options: O & Exact<O, ReferenceOptions> = {} as O & Exact<O, ReferenceOptions>,
): Made<string, O> {
  const { onDelete, requires = 'view', moves, reverse, only, announcesLeaving }: ReferenceOptions = options;
  const shape = {
    schema: Type.String({ pattern: idPattern.source }),
    columnType: 'text',
    target,
    requires,
    ...(onDelete ? { onDelete } : {}),
    ...(moves ? { moves } : {}),
    ...(reverse ? { reverse } : {}),
    ...(only ? { only } : {}),
    ...(announcesLeaving ? { announcesLeaving } : {}),
  };
  const names = ['onDelete', 'requires', 'moves', 'reverse', 'only', 'announcesLeaving'];
  return make<string, O>('reference', description, options, shape, names);
}

interface MemberOptions extends Options<string> {
  readonly onLeave: 'cascade' | 'keep';
  /** Defaults to the caller at creation. */
  readonly creator?: true;
  readonly reverse?: string;
  /** Verb of the custom event that is recorded when the field gets another person. */
  readonly announces?: string;
}

/** A reference to a person who is a member of the record's organization. */
export function member<const O extends MemberOptions>(
  description: string,
  options: O & Exact<O, MemberOptions>,
): Made<string, O> {
  const { onLeave, creator, announces, ...rest }: MemberOptions = options;
  const made = {
    ...reference('user', description, rest),
    onLeave,
    ...(onLeave === 'cascade' ? { onDelete: 'cascade' } : {}),
    ...(creator ? { creator } : {}),
    ...(announces ? { announces } : {}),
  };
  // Its type follows from all options.
  return made as unknown as Made<string, O>;
}
