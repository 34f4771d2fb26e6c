import { Type, type TSchema } from 'typebox';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { idText, optionalLine, visibleLine, visibleText } from './request-schemas.ts';

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

/** Schema of the value of a field with its description; null stands for none where the field is optional. */
export function describedValue(field: Field, schema: JsonSchema): TSchema {
  const described = { ...schema, description: inRestNames(field.description) };
  if (!field.optional || schema.type === undefined) return Type.Unsafe(described);
  return Type.Unsafe({
    ...described,
    type: [schema.type, 'null'],
    ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
  });
}

/** A description with the names that other fields have in REST. */
export function inRestNames(description: string): string {
  return description.replaceAll(/`[a-z]+(?:[A-Z][a-z]*)+`/g, snakeCase);
}

/** Examples of texts whose pattern does not describe their meaning. */
const examplesByPattern: Readonly<Record<string, readonly string[]>> = {
  '^\\+[1-9][0-9]{1,14}$': ['+14155550123'],
};

/** JSON schema of a value that is not null. The data layer validates values again. */
export function valueSchema(field: Field): JsonSchema {
  if (field.values) return { type: 'string', enum: field.values };
  if (field.type === 'json')
    return describedKeyword in field.schema ? { [describedKeyword]: field.schema[describedKeyword] } : {};
  // The data layer says what an upload is.
  if (field.type === 'file') return idText;
  // The data layer says in words how many digits are accepted.
  if (field.type === 'decimal') {
    const { pattern } = field.schema as TextShape;
    return { type: 'string', format: 'decimal', maxLength: 100, [describedKeyword]: { pattern } };
  }
  const schema: JsonSchema = {
    ...field.schema,
    ...(field.isName ? { [describedKeyword]: { format: 'name' } } : notBlank(field)),
  };
  const examples = field.naming === 'kind' ? ['task'] : examplesByPattern[String(schema['pattern'])];
  return { ...schema, ...(examples && schema['examples'] === undefined ? { examples } : {}) };
}

/** A required text shows something, and so do the items of a list and texts of one line that are not empty; secrets may be anything. */
function notBlank({ schema, secret, type, isOneLine }: Field): JsonSchema {
  const { minLength = 0, pattern, format, items } = schema as TextShape;
  if (secret || pattern !== undefined || format !== undefined || describedKeyword in schema) return {};
  if (type === 'textList' && (items?.minLength ?? 0) > 0 && items?.format === undefined)
    return { items: { ...items, [describedKeyword]: { pattern: visibleText } } };
  if (isOneLine) return { [describedKeyword]: { pattern: minLength > 0 ? visibleLine : optionalLine } };
  return type === 'text' && minLength > 0 ? { [describedKeyword]: { pattern: visibleText } } : {};
}

interface TextShape {
  readonly minLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly items?: TextShape;
}
