import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import type { Schema } from '../../http/description/openapi-document.ts';

/** Levels of inner objects that are shown; deeper ones stand as JSON. */
const maxLevels = 3;

/** A schema of the components: its properties and an example. Its address is within what browsers open when a link leads there. */
export function schemaSection(name: string, schema: Schema): string {
  const rows = propertyRows(schema, '', 1);
  const properties =
    rows.length === 0
      ? `<p>${typeText(schema)}</p>`
      : `<table><thead><tr><th scope="col">Property</th><th scope="col">Required</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
  const [shown] = schema.examples ?? [];
  return `<details class="schema"><summary><code>${escapeHtml(name)}</code> ${escapeHtml(schema.description ?? '')}</summary><div id="${anchorOf(name)}">${properties}${shown === undefined ? '' : `<p>Example:</p>${json(shown)}`}</div></details>`;
}

/** The example of the schema of a body. */
export function example(schema: Schema | undefined, schemas: Readonly<Record<string, Schema>> = {}): string {
  const whole = schema?.$ref === undefined ? schema : schemas[nameOf(schema.$ref)];
  const [shown] = whole?.examples ?? [];
  return shown === undefined ? '' : json(shown);
}

/** The type of a value, with links to the schemas in it. */
export function typeText(schema: Schema): string {
  const { $ref, type, enum: words, items, allOf, anyOf, oneOf, minimum, maximum, format } = schema;
  if ($ref !== undefined) {
    const name = nameOf($ref);
    return `<a href="#${anchorOf(name)}">${escapeHtml(name)}</a>`;
  }
  // A refusal: the problem document with the codes that it can have.
  if (allOf) return typeText((allOf as readonly Schema[])[0] ?? {});
  const choices = (anyOf ?? oneOf) as readonly Schema[] | undefined;
  if (choices) return choices.map(typeText).join(' or ');
  if (words) return escapeHtml((words as readonly unknown[]).map(String).join(' | '));
  if ('const' in schema) return escapeHtml(String(schema['const']));
  if (items) return `list of ${typeText(items as Schema)}`;
  const range = minimum === undefined || maximum === undefined ? '' : `, ${String(minimum)} to ${String(maximum)}`;
  const kind = type === undefined ? 'any' : [type].flat().join(' or ');
  return escapeHtml(`${kind}${typeof format === 'string' ? ` (${format})` : ''}${range}`);
}

/** A row for each property, and for those of inner objects, whose names begin with that of the outer one. */
function propertyRows({ properties = {}, required = [] }: Schema, prefix: string, level: number): string[] {
  const needed = new Set(required as readonly string[]);
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const inner = (schema['items'] as Schema | undefined) ?? schema;
    const below =
      level < maxLevels && !inner.$ref ? propertyRows(inner, `${path}${inner === schema ? '' : '[]'}.`, level + 1) : [];
    const text = escapeHtml(schema.description ?? '');
    return [
      `<tr><td><code>${escapeHtml(path)}</code></td><td>${needed.has(name) ? 'yes' : 'no'}</td><td>${typeText(schema)}</td><td>${text}</td></tr>`,
      ...below,
    ];
  });
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function anchorOf(name: string): string {
  return escapeHtml(`schema-${name}`);
}

function json(value: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(value, undefined, 2))}</pre>`;
}
