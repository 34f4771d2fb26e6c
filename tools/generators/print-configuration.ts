import type { Field, IntegerField, LeafField, ObjectField, TextField } from '#config/schema/field.ts';
import { leafByPath } from '#config/objects/leaf.ts';
import { pendingCapability, pendingRemark } from '#config/objects/pending.ts';
import { root } from '#config/objects/root.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Whether the field may be omitted: it is not required, or it has a usable default. */
export function isOptional(field: Field): boolean {
  return !('required' in field && field.required === true && (!('default' in field) || field.default === ''));
}

function textSchema(field: TextField): Schema {
  return {
    type: 'string',
    ...(field.values === undefined ? {} : { enum: field.values }),
    ...(field.format?.pattern === undefined ? {} : { pattern: field.format.pattern }),
    ...(field.maxLength === undefined ? {} : { maxLength: field.maxLength }),
    // An empty text means "not set" unless the field is required, so minLength alone cannot express the minimum length.
    ...(field.required === true ? { minLength: Math.max(1, field.minLength ?? 1) } : {}),
    ...(field.required !== true && field.minLength !== undefined
      ? { anyOf: [{ const: '' }, { minLength: field.minLength }] }
      : {}),
    ...(field.secret === undefined ? {} : { writeOnly: true }),
  };
}

function integerSchema(field: IntegerField): Schema {
  const range = { minimum: field.minimum, maximum: field.maximum };
  if (field.special === undefined) return { type: 'integer', ...range };
  return {
    type: 'integer',
    anyOf: [range, ...field.special.map(({ value, meaning }) => ({ const: value, description: meaning }))],
  };
}

function objectSchema(field: ObjectField, path: string): Schema {
  const properties = Object.entries(field.fields).map(
    ([key, child]) => [key, schemaOf(child, path === '' ? key : `${path}.${key}`)] as const,
  );
  // Other fields can be set in the environment instead of the file, so only items of lists and maps have required keys.
  const isItem = path.includes('*') || path.includes('[]');
  const required = Object.entries(field.fields).flatMap(([key, child]) => (isItem && !isOptional(child) ? [key] : []));
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  };
}

function shapeOf(field: Field, path: string): Schema {
  switch (field.type) {
    case 'text':
      return textSchema(field);
    case 'integer':
      return integerSchema(field);
    case 'flag':
      return { type: 'boolean' };
    case 'list': {
      const items = field.items.type === 'text' ? { ...field.items, required: true as const } : field.items;
      return { type: 'array', items: schemaOf(items, `${path}[]`) };
    }
    case 'map': {
      const pattern = field.keyFormat?.pattern;
      return {
        type: 'object',
        ...(pattern === undefined ? {} : { propertyNames: { pattern } }),
        additionalProperties: schemaOf(field.values, `${path}.*`),
      };
    }
    case 'object':
      return objectSchema(field, path);
    case 'text-or-integer':
      return { anyOf: [schemaOf({ ...field.text, required: true }, path), schemaOf(field.integer, path)] };
    case 'any':
      return {};
    case 'empty':
      return { type: 'object', additionalProperties: false, properties: {} };
  }
}

function schemaOf(field: Field, path: string): Schema {
  const leaf = leafByPath.get(path);
  const hasDefault = 'default' in field && isOptional(field) && !/[*\]]$/u.test(path);
  return {
    description: `${pendingRemark(path)}${field.description}${field.type === 'integer' ? ` Unit: ${field.unit}.` : ''}`,
    ...shapeOf(field, path),
    ...(hasDefault ? { default: field.default } : {}),
    ...(field.type === 'integer' ? { 'x-unit': field.unit } : {}),
    ...(leaf === undefined ? {} : { 'x-environment': leaf.variable, 'x-restart': leaf.field.restart === true }),
  };
}

export function printSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration',
    ...schemaOf(root, ''),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Values of the example that differ from the defaults, so that the example can be loaded unchanged for development. */
const exampleValues: Readonly<Record<string, unknown>> = {
  'server.dev': true,
  'auth.token.kid': 'core-1',
  'auth.token.audience': 'http://localhost:17608',
  'auth.token.issuer': 'http://localhost:17608',
  'authz.hosturl': 'http://127.0.0.1:8080',
  'db.primarydbsource': 'postgres://postgres@127.0.0.1:5432/core',
};

function comment(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && `${indent}# ${line} ${word}`.length > 120) {
      lines.push(`${indent}# ${line}`);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, `${indent}# ${line}`];
}

/** A default that follows from `domain`, as it is written in texts. */
export const inherited = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));

function remarks(field: LeafField, path: string): string {
  const parts = [pendingRemark(path) + field.description];
  if (field.type === 'integer') {
    parts.push(`Unit: ${field.unit}, ${field.minimum} to ${field.maximum}.`);
    for (const { value, meaning } of field.special ?? []) parts.push(`${value}: ${meaning}.`);
  }
  if (field.type === 'text' && field.values !== undefined)
    parts.push(`One of ${field.values.filter((value) => value !== '').join(', ')}.`);
  if (field.type === 'text' && field.required === true && field.default === '') parts.push('Required.');
  if ('fromDomain' in field && field.fromDomain !== undefined)
    parts.push(`If domain is set, the default is ${inherited(field.fromDomain('example.com'))}.`);
  if (field.restart === true) parts.push('A change takes effect after a restart.');
  return parts.join(' ');
}

/** Fields without effect are commented out, because they cause warnings; objects of nothing else are, too. */
function isLeftOut(field: Field, path: string): boolean {
  if (field.type === 'object')
    return Object.entries(field.fields).every(([name, child]) => isLeftOut(child, `${path}.${name}`));
  return exampleValue(field, path) === undefined || field.noEffect === true || pendingCapability(path) !== undefined;
}

function exampleValue(field: Field, path: string): unknown {
  return exampleValues[path] ?? ('default' in field ? field.default : undefined);
}

function exampleLines(field: Field, path: string, depth: number): string[] {
  const indent = '  '.repeat(depth);
  const key = path.slice(path.lastIndexOf('.') + 1);
  const mark = isLeftOut(field, path) ? '# ' : '';
  if (field.type === 'object') {
    const children = Object.entries(field.fields).flatMap(([name, child]) =>
      exampleLines(child, `${path}.${name}`, depth + 1),
    );
    return ['', ...comment(field.description, indent), `${indent}${mark}${key}:`, ...children];
  }
  const line = `${key}: ${JSON.stringify(exampleValue(field, path) ?? {})}`;
  return [...comment(remarks(field, path), indent), `${indent}${mark}${line}`];
}

/** The example configuration file: every field with its default. It can be loaded unchanged for development. */
export function printExample(): string {
  const lines = Object.entries(root.fields).flatMap(([key, field]) => exampleLines(field, key, 0));
  return [
    '# yaml-language-server: $schema=./config.schema.json',
    '# Every field with its default value, except for a few values that a development setup needs. Keep only what you change.',
    '# An empty text means "not set".',
    ...lines,
    '',
  ].join('\n');
}
