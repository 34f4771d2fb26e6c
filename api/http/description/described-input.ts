import { isPlainObject } from '#config/schema/is-plain-object.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { reference, storableText } from './json-value.ts';
import type { SharedValue } from './shared-values.ts';
import { mapParts, type Parameter, type Reference, type Schema } from './openapi-document.ts';

/** Keywords that say something about a value and require nothing of it. */
const notes: ReadonlySet<string> = new Set(['description', 'examples', 'deprecated', 'readOnly', 'writeOnly']);

/**
 * Requirements of a request, as its description states them: the schema with which the request is validated, with what is refused elsewhere
 * in words of its own (`describedKeyword`), and without values that cannot be stored.
 */
export function describedInput(schema: Schema): Schema {
  return described(schema, withStorableValues);
}

/** The schema of an answer: what is said about requests stands for the same values there. */
export function describedAnswer(schema: Schema): Schema {
  return described(schema, (whole) => whole);
}

export function describedParameter(parameter: Parameter | Reference): Parameter | Reference {
  if ('$ref' in parameter || !parameter.schema) return parameter;
  const { description, ...schema } = describedInput(parameter.schema);
  return { ...parameter, ...(description === undefined ? {} : { description }), schema };
}

function described(schema: Schema, complete: (schema: Schema) => Schema): Schema {
  const { [describedKeyword]: more, ...checked } = schema;
  if (isShared(more)) return { ...notesOf(checked), ...reference(more.shared) };
  const whole: Schema = { ...checked, ...(more as Schema | undefined) };
  const mapped = mapParts(whole, (part) => described(part, complete));
  // Completed, a schema would refuse less.
  return complete('not' in whole ? { ...mapped, not: whole['not'] } : mapped);
}

function isShared(more: unknown): more is { readonly shared: SharedValue } {
  return isPlainObject(more) && 'shared' in more;
}

/** The schema without texts and JSON that cannot be stored. */
function withStorableValues(schema: Schema): Schema {
  if (Object.keys(schema).every((keyword) => notes.has(keyword))) return { ...schema, ...reference('JsonValue') };
  const has = (keyword: string) => keyword in schema;
  const types = new Set([schema.type].flat());
  if (types.has('string'))
    return ['pattern', 'enum', 'const', 'format'].some(has) ? schema : { ...schema, pattern: storableText };
  const isOpen = types.has('object') && schema['additionalProperties'] !== false && !has('properties');
  if (!isOpen) return schema;
  return { additionalProperties: reference('JsonValue'), ...schema, propertyNames: { pattern: storableText } };
}

function notesOf(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => notes.has(keyword)));
}
