import { idPattern } from '#entities/kit/base/ids.ts';
import { inWordsCapitalized } from '#entities/kit/base/snake-case.ts';
import type { Schema } from './openapi-document.ts';

const reference = '#/components/schemas/';

const exampleId = '01KG9ZV4X3M8Q2T7R5W1Y6B0CD';

/** Levels of schemas below which examples are empty: a schema may contain itself. */
const maxLevels = 7;

const byFormat: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T09:30:00.000Z',
  date: '2026-01-31',
  email: 'name@example.com',
  'idn-hostname': 'example.com',
  uri: 'https://example.com/page',
  decimal: '12.50',
  binary: '…',
};

/**
 * A value that a schema accepts, as far as its patterns have an example of their own: what the schema or its parts declare as examples,
 * else something plain of the type.
 * @param schemas that references name
 * @param use a body has what is required and what declares an example, an answer has everything
 */
export function exampleOf(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  use: 'body' | 'answer',
  name = '',
  level = 0,
): unknown {
  const { $ref, type, examples, items, properties = {}, format, minimum } = schema;
  if (examples && examples.length > 0) return examples[0];
  if ($ref !== undefined) return exampleOf(schemas[$ref.slice(reference.length)] ?? {}, schemas, use, name, level + 1);
  if ('default' in schema) return schema['default'];
  if ('const' in schema) return schema['const'];
  const words = schema['enum'] as readonly unknown[] | undefined;
  if (words) return words[0];
  const [choice] = (schema['anyOf'] ?? schema['oneOf'] ?? []) as readonly Schema[];
  if (choice) return exampleOf(choice, schemas, use, name, level + 1);
  const kind = [type ?? []].flat().find((each) => each !== 'null');
  switch (kind) {
    case 'string':
      return typeof format === 'string' && format in byFormat ? byFormat[format] : textOf(schema, name);
    case 'integer':
    case 'number':
      return minimum ?? 1;
    case 'boolean':
      return true;
    case 'array': {
      const isEmpty = level >= maxLevels || (use === 'body' && !schema['minItems']) || !items;
      return isEmpty ? [] : [exampleOf(items as Schema, schemas, use, name, level + 1)];
    }
    case 'object':
      return level >= maxLevels ? {} : objectOf(schema, properties, schemas, use, level);
    case undefined:
    default:
      return properties && Object.keys(properties).length > 0
        ? objectOf(schema, properties, schemas, use, level)
        : null;
  }
}

function objectOf(
  schema: Schema,
  properties: Readonly<Record<string, Schema>>,
  schemas: Readonly<Record<string, Schema>>,
  use: 'body' | 'answer',
  level: number,
): Record<string, unknown> {
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  // Schemas that exist only to be refused use `not`.
  const known = Object.entries(properties).filter(([, part]) => !('not' in part));
  const chosen = use === 'answer' ? known : known.filter(([name, part]) => required.has(name) || part.examples);
  const shown = chosen.length === 0 ? known.slice(0, 1) : chosen;
  return Object.fromEntries(shown.map(([name, part]) => [name, exampleOf(part, schemas, use, name, level + 1)]));
}

/** A text that says what it is the example of. */
function textOf(schema: Schema, name: string): string {
  if (schema['pattern'] === idPattern.source || /(?:^|_)ids?$/.test(name)) return exampleId;
  const { minLength = 0, maxLength = 100 } = schema as { readonly minLength?: number; readonly maxLength?: number };
  const words = name === '' ? 'Text' : inWordsCapitalized(name);
  return words.padEnd(minLength, ' example').slice(0, maxLength);
}
