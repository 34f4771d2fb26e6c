import type { TSchema } from 'typebox';
import type { FileRule } from './files/accepted-types.ts';

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
  /** Whether callers read the field, write it, or both; absent: it is hidden. */
  readonly exposed?: Exposure;
  /** Use of the field in lists of the kind. */
  readonly lists?: readonly ListUse[];
  /** Why people cannot set the field, or how they change it, as the end of a sentence; only with `exposed: 'read'`. */
  readonly changedElsewhere?: string;
  /** A caller who gives the field one of these values, or any, has proven their identity recently (credentials/required-proof.ts). */
  readonly needsProof?: 'any' | readonly string[];
  /** Encrypted in the table (write/sealed-values.ts); callers can set it, and nobody reads it but the server. */
  readonly isSealed?: true;
  /** Validates one present value. */
  readonly schema: TSchema;
  readonly columnType: string;
  /** Allowed values, for `choice` fields. */
  readonly values?: readonly string[];
  /** Kind of the target record, for `reference` fields. */
  readonly target?: string;
  /** For names: refused where characters deceive (`nameProblem`). */
  readonly isName?: true;
  /** Line breaks are refused, and white space or fillers alone as well. */
  readonly isOneLine?: true;
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
  /** Has the form in which the name in this field is compared; `generated`. */
  readonly formOf?: string;
  /** Defaults to the person who creates the record. */
  readonly creator?: true;
  /** The data layer sets it to the API token or personal token with which the record is created (`limitingToken`). */
  readonly credential?: true;
  /** For `decimal` fields: the number of digits after the point. */
  readonly scale?: number;
  /** The field with which it has a value or has none (`money`). */
  readonly pairedWith?: string;
  /** For `reference` fields: only records with one of these values in each of these fields of theirs. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
  /** The field holds the id of a record of one of these kinds; the field `kindIn` says of which (`recordOf`). */
  readonly anyOf?: { readonly kindIn: string; readonly kinds: readonly string[] };
  /** A change of the person in this field records the custom event with this verb, whose payload names the person. */
  readonly announces?: string;
  /** The deletion of a record records the custom event with this verb, whose payload names the record in this reference. */
  readonly announcesLeaving?: string;
  /** The text can mention people (mentions.ts). */
  readonly hasMentions?: true;
  /** For `file` fields. */
  readonly file?: FileRule;
  /** Left out, it gets what the record's file says. */
  readonly isFilled?: true;
  /** Records that are older than the field have no value, although every new one has. */
  readonly isNew?: true;
  /** Holds the name of a kind, or names of fields of such a kind (`describesList`). */
  readonly naming?: 'kind' | 'fields';
  /** For `textList` fields: the items are URLs with http or https (`urlList`). */
  readonly holdsUrls?: true;
  /** For `textList` fields: the items are domains of e-mail addresses (`domainList`). */
  readonly holdsDomains?: true;
  /** For `timestamp` fields: a moment that has been, of records with this value of this field only (`moment`). */
  readonly momentOf?: { readonly field: string; readonly is: string };
  /** Carries the value's type only. */
  readonly '~value'?: Value;
}

export type FieldType =
  | 'text'
  | 'textList'
  | 'choice'
  | 'integer'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'reference'
  | 'json'
  | 'file';

export type Fields = Readonly<Record<string, Field>>;

export type Exposure = 'read' | 'read-write' | 'write';

/** Lists are filtered by the field, ordered by it, or searched for words in it. */
export type ListUse = 'filter' | 'order' | 'search';

/** Use of a field, as options of every function that makes one. @typeParam Use what lists can do with fields of the type */
export interface FieldUse<Use extends ListUse = 'filter' | 'order'> extends Pick<
  Field,
  'exposed' | 'changedElsewhere' | 'needsProof'
> {
  readonly lists?: readonly Use[];
}

export interface Options<Value, Use extends ListUse = 'filter' | 'order'> extends FieldUse<Use> {
  readonly optional?: boolean;
  readonly default?: Value;
  readonly immutable?: boolean;
  readonly secret?: boolean;
}

type IsOptional<O> = O extends { readonly optional: true } ? true : false;
type IsDefaulted<O> = O extends { readonly default: {} } | { readonly creator: true } ? true : false;
export type Made<Value, O> = Field<Value, IsOptional<O>, IsDefaulted<O>>;

/** Forbids options that a type of field does not have: a type parameter alone accepts any. */
export type Exact<O, Known> = { readonly [Name in Exclude<keyof O, keyof Known>]: never };

const useOptions = ['exposed', 'lists', 'changedElsewhere', 'needsProof'] as const;
const commonOptions = ['optional', 'default', 'immutable', 'secret', ...useOptions];

/** @param more names of the options besides those of all fields @throws TypeError for an option with another name */
export function make<Value, const O extends Options<Value, ListUse>>(
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
    ...Object.fromEntries(useOptions.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))),
    ...shape,
  };
  return field as Made<Value, O>;
}
