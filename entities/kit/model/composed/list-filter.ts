import type { Field, FieldUse } from '../declared-field.ts';
import { describedKeyword } from '../described-schema.ts';
import { json } from '../fields.ts';

/** A filter of a list, in the form of the argument `where` of GraphQL; what it may contain depends on the kind (`describesList`). */
export function listFilter(
  description: string,
  { immutable = false, ...use }: FieldUse<never> & { readonly immutable?: boolean } = {},
): Field<unknown, true, false> {
  const field = json(description, { maxBytes: 16_384, optional: true, immutable, ...use });
  return { ...field, schema: { ...field.schema, [describedKeyword]: { type: ['object', 'null'] } } };
}
