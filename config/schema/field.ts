/**
 * The types that describe configuration fields. The static type (`ValueOf`), the loader, the printed JSON Schema, the example
 * and the reference page are all derived from these descriptions.
 *
 * The descriptions are plain data, because a schema library needs more time at start than the whole configuration does.
 */
import type { Format } from './format.ts';

/** Properties that every field has. */
interface Described {
  /** Effect of the field: complete sentences for the reference page. */
  readonly description: string;
  /** True when a change takes effect only after a restart; otherwise it takes effect with the next reload. */
  readonly restart?: true;
  /** True when the field is accepted but has no effect in this product. A warning is logged at start when it is set. */
  readonly noEffect?: true;
}

/** A field that can be required. In texts, `''` means "not set". */
interface Requirable {
  readonly required?: true;
}

/** A text. The empty text means "not set". */
export interface TextField<T extends string = string> extends Described, Requirable {
  readonly type: 'text';
  readonly default: T | '';
  /** The only allowed values. */
  readonly values?: readonly T[];
  /** Checked when the text is not empty. */
  readonly format?: Format;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** `'value'`: the value is never shown. `'url'`: user name and password of the URL are masked. Both accept `…_FILE`. */
  readonly secret?: 'value' | 'url';
  /** The value derived from `domain` when the field is still empty after defaults, file and environment. */
  readonly fromDomain?: (domain: string) => string;
}

/** A whole number with its unit. */
export interface IntegerField extends Described {
  readonly type: 'integer';
  readonly default: number;
  readonly unit: string;
  readonly minimum: number;
  readonly maximum: number;
  /** Values with a special meaning, which may be outside the range. */
  readonly special?: readonly { readonly value: number; readonly meaning: string }[];
  /** Additional advice in the error when a value is outside the range. */
  readonly outside?: string;
}

/** On or off. */
export interface FlagField extends Described {
  readonly type: 'flag';
  readonly default: boolean;
}

/** A list; set as a whole. */
export interface ListField<I extends Field = Field> extends Described {
  readonly type: 'list';
  readonly items: I;
  readonly default: readonly unknown[];
  readonly fromDomain?: (domain: string) => readonly unknown[];
}

/** An object with arbitrary keys; set as a whole. */
export interface MapField<V extends Field = Field> extends Described {
  readonly type: 'map';
  /** Meaning of a key, for messages: `header name`. */
  readonly keyLabel: string;
  readonly keyFormat?: Format;
  readonly values: V;
  readonly default: Readonly<Record<string, unknown>>;
}

/** An object with fixed keys. Other keys are rejected. */
export interface ObjectField<P extends Fields = Fields> {
  readonly type: 'object';
  readonly description: string;
  readonly fields: P;
}

/** Either a text or a whole number. */
export interface TextOrIntegerField extends Described, Requirable {
  readonly type: 'text-or-integer';
  readonly text: TextField;
  readonly integer: IntegerField;
}

/** Any JSON value. */
export interface AnyField extends Described {
  readonly type: 'any';
}

/** An object without keys. */
export interface EmptyField extends Described {
  readonly type: 'empty';
}

export type Field =
  | TextField
  | IntegerField
  | FlagField
  | ListField
  | MapField
  | ObjectField
  | TextOrIntegerField
  | AnyField
  | EmptyField;

/** A field that is set as a whole, in the file or by one environment variable. */
export type LeafField = Exclude<Field, ObjectField>;

/** Fields by key. */
export interface Fields {
  readonly [key: string]: Field;
}

/** A JSON value. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The type of the value of a field after loading. */
export type ValueOf<F> =
  F extends ObjectField<infer P>
    ? { readonly [K in keyof P]: ValueOf<P[K]> }
    : F extends TextField<infer T>
      ? T
      : F extends IntegerField
        ? number
        : F extends FlagField
          ? boolean
          : F extends ListField<infer I>
            ? readonly ValueOf<I>[]
            : F extends MapField<infer V>
              ? Readonly<Record<string, ValueOf<V>>>
              : F extends TextOrIntegerField
                ? string | number
                : F extends AnyField
                  ? Json | undefined
                  : F extends EmptyField
                    ? Readonly<Record<string, never>>
                    : never;

/**
 * The paths of all leaves below a field, as tests name them that show their effect: `server.listen`,
 * `ratelimit.options[].requests` for the items of a list, `jobqueue.queueconf.Queues.*.MaxWorkers` for those of a map.
 */
export type LeafPath<F, P extends string = ''> =
  F extends ObjectField<infer C>
    ? { [K in keyof C & string]: LeafPath<C[K], P extends '' ? K : `${P}.${K}`> }[keyof C & string]
    : F extends ListField<infer I>
      ? I extends ObjectField
        ? LeafPath<I, `${P}[]`>
        : P
      : F extends MapField<infer V>
        ? V extends ObjectField
          ? LeafPath<V, `${P}.*`>
          : P
        : P;

type Options<F extends Field> = Omit<F, 'type' | 'default'>;

/** A text field. Without `default`, the default is the empty text. */
export function text<const T extends string = string>(
  options: Options<TextField<T>> & { readonly default?: NoInfer<T> | '' },
): TextField<T> {
  return { type: 'text', default: '', ...options };
}

/** A secret text: never shown, can be set with `…_FILE`, has no default. */
export function secret(options: Options<TextField>): TextField {
  return { type: 'text', default: '', secret: 'value', ...options };
}

/** A whole number. */
export function integer(options: Options<IntegerField> & { readonly default: number }): IntegerField {
  return { type: 'integer', ...options };
}

/** A duration in milliseconds. */
export function duration(options: Omit<Options<IntegerField>, 'unit'> & { readonly default: number }): IntegerField {
  return { type: 'integer', unit: 'milliseconds', ...options };
}

/** On or off. Without `default`, it is off. */
export function flag(options: Options<FlagField> & { readonly default?: boolean }): FlagField {
  return { type: 'flag', default: false, ...options };
}

/** A list. Without `default`, it is empty. Only lists of texts can have a default. */
export function list<const I extends Field>(
  options: Options<ListField<I>> & { readonly default?: readonly string[] },
): ListField<I> {
  return { type: 'list', default: [], ...options };
}

/** An object with arbitrary keys. Without `default`, it is empty. Only maps of texts can have a default. */
export function map<const V extends Field>(
  options: Options<MapField<V>> & { readonly default?: Readonly<Record<string, string>> },
): MapField<V> {
  return { type: 'map', default: {}, ...options };
}

/** An object with fixed keys. */
export function object<const P extends Fields>(description: string, fields: P): ObjectField<P> {
  return { type: 'object', description, fields };
}

/** Either a text or a whole number. */
export function textOrInteger(options: Options<TextOrIntegerField>): TextOrIntegerField {
  return { type: 'text-or-integer', ...options };
}

/** Any JSON value. */
export function any(options: Options<AnyField>): AnyField {
  return { type: 'any', ...options };
}

/** An object without keys. */
export function empty(options: Options<EmptyField>): EmptyField {
  return { type: 'empty', ...options };
}

/** Whether a field is a secret or contains one. */
export function holdsSecret(field: Field): boolean {
  switch (field.type) {
    case 'text':
      return field.secret !== undefined;
    case 'list':
      return holdsSecret(field.items);
    case 'map':
      return holdsSecret(field.values);
    case 'object':
      return Object.values(field.fields).some(holdsSecret);
    case 'integer':
    case 'flag':
    case 'text-or-integer':
    case 'any':
    case 'empty':
      return false;
  }
}
