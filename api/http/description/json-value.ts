import type { Schema } from './openapi-document.ts';

/** Pattern of a text that can be stored: PostgreSQL stores no NUL. */
export const storableText = String.raw`^[^\u0000]*$`;

/** JSON of the caller's own making, as far as it is stored as it was sent. */
export const jsonValue: Schema = {
  description: `JSON without NUL in its texts and names, and without numbers beyond ${Number.MAX_SAFE_INTEGER}, which would be rounded.`,
  anyOf: [
    { type: ['null', 'boolean'] },
    { type: 'number', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: storableText },
    { type: 'array', items: reference('JsonValue') },
    { type: 'object', propertyNames: { pattern: storableText }, additionalProperties: reference('JsonValue') },
  ],
};

/** @param name of a schema of the description */
export function reference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}
