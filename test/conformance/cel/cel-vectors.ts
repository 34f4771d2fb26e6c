import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import type { CelEnvironment, CelItem } from '#activities/clients/cel/cel-contract.ts';

/** One vector of the specification of CEL. */
export interface CelVector {
  /** File, section and name, as the specification has them. */
  readonly id: string;
  readonly expression: string;
  readonly environment: CelEnvironment;
  readonly variables: CelItem['variables'];
  /** Undefined where an error is expected. */
  readonly expected?: { readonly value: unknown };
}

/** Files about values that need no protobuf messages. The others are about messages, or about extensions that the product does not have. */
const files: ReadonlySet<string> = new Set([
  'basic',
  'bindings_ext',
  'comparisons',
  'conversions',
  'fp_math',
  'integer_math',
  'lists',
  'logic',
  'macros',
  'namespace',
  'optionals',
  'parse',
  'plumbing',
  'string',
  'string_ext',
  'timestamps',
]);

type Suite = typeof tests;
type Json = Readonly<Record<string, unknown>>;

/** All vectors of these files that have no messages of protobuf in them. */
export function celVectors(): CelVector[] {
  return (tests.suites ?? [])
    .filter(({ name }) => files.has(name))
    .flatMap((file) => vectorsIn(file, file.name))
    .filter((vector) => vector !== undefined);
}

function vectorsIn(suite: Suite, path: string): (CelVector | undefined)[] {
  const own = (suite.tests ?? []).map(({ original }) => vectorOf(original as Json, path));
  return [...own, ...(suite.suites ?? []).flatMap((inner) => vectorsIn(inner, `${path}/${inner.name}`))];
}

const wellKnown = /google\.protobuf\.(?:Timestamp|Duration)\b/g;

/** Undefined for a vector with messages, and for one that has no outcome. */
function vectorOf(original: Json, path: string): CelVector | undefined {
  if (
    /TestAllTypes|google\.protobuf|"messageType"|"enumValue"/.test(JSON.stringify(original).replaceAll(wellKnown, ''))
  )
    return undefined;
  if (original['container'] !== undefined || original['checkOnly'] === true) return undefined;
  const value = original['value'] ?? (original['typedResult'] as Json | undefined)?.['result'];
  const declared = (original['typeEnv'] ?? []) as readonly { name: string; ident?: { type?: Json } }[];
  const bindings = Object.entries((original['bindings'] ?? {}) as Record<string, { value: Json }>);
  return {
    id: `${path}/${String(original['name'])}`,
    expression: String(original['expr']),
    environment: {
      variables: Object.fromEntries(declared.map(({ name, ident }) => [name, typeOf(ident?.type ?? {})])),
    },
    variables: Object.fromEntries(bindings.map(([name, bound]) => [name, valueOf(bound.value)])),
    // A vector without an outcome expects `true`.
    ...(original['evalError'] === undefined
      ? { expected: { value: value === undefined ? true : valueOf(value as Json) } }
      : {}),
  };
}

const primitives: Readonly<Record<string, string>> = {
  INT64: 'int',
  UINT64: 'uint',
  DOUBLE: 'double',
  STRING: 'string',
  BOOL: 'bool',
  BYTES: 'bytes',
};

function typeOf(type: Json): string {
  if (typeof type['primitive'] === 'string') return primitives[type['primitive']] ?? 'dyn';
  if (type['wellKnown'] === 'TIMESTAMP') return 'timestamp';
  if (type['wellKnown'] === 'DURATION') return 'duration';
  const [list, map] = [type['listType'], type['mapType']] as [Json | undefined, Json | undefined];
  if (list !== undefined) return `list<${typeOf(list['elemType'] as Json)}>`;
  if (map !== undefined) return `map<${typeOf(map['keyType'] as Json)}, ${typeOf(map['valueType'] as Json)}>`;
  return 'dyn';
}

/** A value of the specification in the form in which our values leave an evaluation. */
function valueOf(value: Json): unknown {
  const [kind = '', content] = Object.entries(value)[0] ?? [];
  switch (kind) {
    case 'int64Value':
    case 'uint64Value':
      return BigInt(content as string);
    case 'doubleValue':
      return Number(content);
    case 'bytesValue':
      return new Uint8Array(Buffer.from(content as string, 'base64'));
    case 'nullValue':
      return null;
    case 'listValue':
      return ((content as { values?: Json[] }).values ?? []).map(valueOf);
    case 'mapValue': {
      const entries = (content as { entries?: { key: Json; value: Json }[] }).entries ?? [];
      return Object.fromEntries(entries.map((entry) => [String(valueOf(entry.key)), valueOf(entry.value)]));
    }
    case 'objectValue':
      return objectOf(content as Json);
    default:
      return content;
  }
}

function objectOf(object: Json): unknown {
  const type = String(object['@type']);
  if (type.endsWith('Timestamp')) return new Date(String(object['value']));
  return type.endsWith('Duration') ? object['value'] : object;
}
