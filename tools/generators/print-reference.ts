import type { Field, ObjectField } from '#config/schema/field.ts';
import { acceptedPaths, leafByPath, leaves, type Leaf } from '#config/objects/leaf.ts';
import { pendingRemark } from '#config/objects/pending.ts';
import { root } from '#config/objects/root.ts';
import { inherited, isOptional } from './print-configuration.ts';

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
    `- ${acceptedPaths.length} fields whose effect begins with "No effect" are accepted, and their rows say why they do nothing. The start warns when one is set.`,
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
