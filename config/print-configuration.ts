import type { Field, IntegerField, LeafField, ObjectField, TextField } from './schema/field.ts';
import { leafByPath, leaves, type Leaf } from './objects/leaf.ts';
import { pendingCapability, pendingRemark } from './objects/pending.ts';
import { root } from './objects/root.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Whether the field may be omitted: it is not required, or it has a usable default. */
function isOptional(field: Field): boolean {
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

/** The JSON Schema of the configuration file. */
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

const inherited = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));

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

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`);
const code = (text: string): string => (text === '' ? '' : `\`${text}\``);

function typeOf(field: Field): string {
  switch (field.type) {
    case 'text':
      return field.values === undefined
        ? (field.format?.name ?? 'text').replace(/^an? /u, '')
        : field.values
            .filter((value) => value !== '')
            .map(code)
            .join(', ');
    case 'integer':
      return `${field.minimum} to ${field.maximum}${(field.special ?? []).map(({ value, meaning }) => `; ${value}: ${meaning}`).join('')}`;
    case 'flag':
      return 'true, false';
    case 'list':
      return field.items.type === 'object' ? 'list of objects' : `list (${typeOf(field.items)})`;
    case 'map':
      return `map from ${field.keyLabel} to ${field.values.type === 'object' ? 'object' : typeOf(field.values)}`;
    case 'text-or-integer':
      return `${typeOf(field.text)}, or ${typeOf(field.integer)} ${field.integer.unit}`;
    case 'any':
      return 'any value';
    case 'object':
    case 'empty':
      return 'object';
  }
}

function defaultCell(field: Field): string {
  if (!isOptional(field)) return '**required**';
  return 'default' in field && field.default !== '' ? code(JSON.stringify(field.default)) : '';
}

function row(name: string, path: string, field: Exclude<Field, ObjectField>, leaf: Leaf | undefined): string {
  const fromDomain =
    'fromDomain' in field && field.fromDomain !== undefined
      ? ` If \`domain\` is set, the default is ${code(inherited(field.fromDomain('<domain>')))}.`
      : '';
  const cells = [
    code(name),
    leaf === undefined ? '' : code(leaf.variable) + (leaf.secret ? ' or `…_FILE`' : ''),
    typeOf(field),
    field.type === 'integer' ? field.unit : '',
    defaultCell(field),
    field.type === 'text' && field.secret !== undefined ? 'yes' : '',
    field.restart === true ? 'yes' : '',
    pendingRemark(path) + field.description + fromDomain,
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
}

const heading = [
  '| Field | Variable | Type or range | Unit | Default | Secret | Restart | Effect |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
];

function rowsOf(field: ObjectField, path: string, prefix: string): string[] {
  const rows: string[] = [];
  for (const [key, child] of Object.entries(field.fields)) {
    if (child.type === 'object') continue;
    const name = prefix + key;
    const childPath = path === '' ? key : `${path}.${key}`;
    rows.push(row(name, childPath, child, leafByPath.get(childPath)));
    if (child.type === 'list' && child.items.type === 'object') {
      rows.push(...rowsOf(child.items, `${childPath}[]`, `${name}[].`));
    }
    if (child.type === 'map' && child.values.type === 'object') {
      rows.push(...rowsOf(child.values, `${childPath}.*`, `${name}.*.`));
    }
  }
  return rows;
}

function sections(field: ObjectField, path: string): string[] {
  const rows = rowsOf(field, path, '');
  const inner = Object.entries(field.fields).flatMap(([key, child]) =>
    child.type === 'object' ? sections(child, path === '' ? key : `${path}.${key}`) : [],
  );
  return [
    `## ${path === '' ? 'Root' : code(path)}`,
    '',
    field.description,
    '',
    ...(rows.length === 0 ? [] : [...heading, ...rows, '']),
    ...inner,
  ];
}

/** The reference page of the configuration. */
export function printReference(): string {
  return [
    '# Configuration',
    '',
    'Printed from `config/` by `npm run derive`.',
    '',
    `The ${leaves.length} fields below are set in \`config/config.yaml\` (or the YAML or JSON file named by \`--config\`) or with environment`,
    'variables. Values of the file replace defaults, and environment variables replace values of the file. Fields that are not set',
    'get their value from `domain` where their row says so.',
    '',
    '- An environment variable holds a text as it is, `true` or `false`, a whole number, or texts separated by commas for a list of texts. Maps and lists of',
    '  objects are written as JSON.',
    '- A secret can be read from a file: the variable with `_FILE` appended names the file. One newline at the end of the file is ignored.',
    '- An empty text means "not set". The start fails for an unknown key or variable and for an invalid value; all problems are printed together.',
    '- The server reads the configuration again every `refreshinterval`. A configuration with problems is not used. Fields with "yes" under Restart',
    '  keep their value until the process is restarted.',
    '- A field that "has no effect yet" is checked, but never required, and the start warns when it is set.',
    '- While `server.dev` is on, missing secrets of `sessions` and `totp` are generated and stored in `.local/secrets.json`.',
    '- Tracing and the credentials for Temporal use the standard variables of these systems: `OTEL_EXPORTER_OTLP_ENDPOINT`, `TEMPORAL_API_KEY`,',
    '  `TEMPORAL_TLS_CLIENT_CERT_PATH`, `TEMPORAL_TLS_CLIENT_KEY_PATH`, `TEMPORAL_TLS_SERVER_NAME`, `TEMPORAL_TLS_SERVER_CA_CERT_PATH`.',
    '- The certificate authority of `server.tls.autocert` is set with `ACME_DIRECTORY_URL`, and with `ACME_EAB_KID` and `ACME_EAB_HMAC_KEY` where it',
    '  gives accounts to its customers only. `NODE_EXTRA_CA_CERTS` names a file with the root of a private authority.',
    '',
    ...sections(root, ''),
  ]
    .join('\n')
    .replace(/\n+$/u, '\n');
}
