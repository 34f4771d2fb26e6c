import { isPlainObject } from '#config/schema/is-plain-object.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import type { SharedValue } from './shared-values.ts';
import { mapParts, type Parameter, type Reference, type Schema } from './openapi-document.ts';

/** PostgreSQL stores no NUL, so no request may contain one. */
const withoutNul = String.raw`^[^\u0000]*$`;

/**
 * Requirements of a request, as its description states them: the schema with which the request is validated, with what is refused elsewhere
 * in words of its own (`describedKeyword`), and without texts that cannot be stored.
 */
export function describedInput(schema: Schema): Schema {
  return described(schema, withStorableText);
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
  if (isShared(more)) return { $ref: `#/components/schemas/${more.shared}` };
  const whole: Schema = { ...checked, ...(more as Schema | undefined) };
  return complete(mapParts(whole, (part) => described(part, complete)));
}

function isShared(more: unknown): more is { readonly shared: SharedValue } {
  return isPlainObject(more) && 'shared' in more;
}

function withStorableText(schema: Schema): Schema {
  const isText = [schema.type].flat().includes('string');
  const isLimited = ['pattern', 'enum', 'const', 'format'].some((keyword) => keyword in schema);
  return isText && !isLimited ? { ...schema, pattern: withoutNul } : schema;
}
