import { Type, type Static, type TObject, type TSchema } from 'typebox';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import type { ExpectedVersion } from '#entities/kit/write/plan-changes.ts';
import { versionSchema } from '../../http/request-schemas.ts';
import { describedValue, valueSchema } from '../../http/value-schema.ts';
import type { ListAnswer, MessagePart, RecordPart } from './define-action.ts';

/** Keyword of a schema with its type in GraphQL, where that does not follow from the schema. JSON has no symbols, so only GraphQL reads it. */
export const graphqlKeyword = Symbol('type in GraphQL');

/** The type of ids, that of a field of a kind, or an enum of its own. */
export type GraphqlTypeName =
  | { readonly is: 'id' }
  | { readonly is: 'field'; readonly module: EntityModule; readonly field: string }
  | {
      readonly is: 'enum';
      readonly name: string;
      readonly description: string;
      /** Values with their descriptions. */
      readonly values: Readonly<Record<string, string | undefined>>;
    };

/** A record that both interfaces answer with: REST with all its fields beside the other parts. */
export function recordOf(module: EntityModule): RecordPart {
  return { is: 'record', module };
}

/** A record that GraphQL can select in the answer; REST answers without it. */
export function selectableRecord(module: EntityModule, description?: string): RecordPart {
  return { is: 'record', module, onlyGraphql: true, ...(description === undefined ? {} : { description }) };
}

/** The result as text for people, in REST. */
export const message: MessagePart = { is: 'message' };

export function listOf<Item extends TObject>(item: Item): ListAnswer<Item> {
  return { is: 'list', item };
}

/** The value of a field of a kind as input. @param more keywords besides those of the field, for the description of the API */
export function fieldOf<M extends EntityModule, Name extends keyof RowOf<M> & string>(
  module: M,
  name: Name,
  more: object = {},
) {
  const field = module.fields[name];
  if (!field) throw new TypeError(`${module.kind} has no field ${name}`);
  return Type.Unsafe<RowOf<M>[Name]>({
    ...describedValue(field, { ...valueSchema(field), ...more }),
    [graphqlKeyword]: { is: 'field', module, field: name } satisfies GraphqlTypeName,
  });
}

/** One of several words. @param type its enum in GraphQL */
export function oneOf<Word extends string>(
  words: readonly Word[],
  description: string,
  type: { readonly name: string; readonly description: string; readonly values?: Readonly<Record<Word, string>> },
) {
  const values = Object.fromEntries(words.map((word) => [word, type.values?.[word]]));
  return Type.Unsafe<Word>({
    type: 'string',
    enum: words,
    description,
    [graphqlKeyword]: { ...type, is: 'enum', values } satisfies GraphqlTypeName,
  });
}

/** An id in an answer. */
export const idOf = (description: string) =>
  Type.Unsafe<string>({ type: 'string', description, [graphqlKeyword]: { is: 'id' } satisfies GraphqlTypeName });

/** A moment in an answer. */
export const instant = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description });

/** A value that can be missing in an answer. */
export function orNull<Schema extends TSchema & { readonly type?: unknown }>(schema: Schema) {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] });
}

/** The version on which a change of a record is based; REST takes it from the header If-Match, too. */
export const expectedVersion = Type.Optional(Type.Unsafe<ExpectedVersion>({ ...versionSchema }));

/** Whether null is a value of a schema; that of any JSON takes it. */
export function takesNull(schema: TSchema): boolean {
  if (Type.IsUnknown(schema)) return true;
  const { type, anyOf = [] } = schema as { readonly type?: unknown; readonly anyOf?: readonly TSchema[] };
  return [type].flat().includes('null') || anyOf.some(takesNull);
}
