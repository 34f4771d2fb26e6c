/** A type of the environment, parsed. */
export type ParsedType = { readonly isNullable: boolean } & (
  | { readonly kind: 'plain'; readonly name: PlainType }
  | { readonly kind: 'list'; readonly items: ParsedType }
  | { readonly kind: 'map'; readonly keys: ParsedType; readonly values: ParsedType }
  | { readonly kind: 'object'; readonly name: string }
);

export const plainTypes = ['string', 'int', 'uint', 'double', 'bool', 'bytes', 'timestamp', 'duration', 'dyn'] as const;
type PlainType = (typeof plainTypes)[number];

const keyTypes: readonly string[] = ['string', 'int', 'uint', 'bool'];

/** Names of the types that have others in cel-js. */
const libraryNames: Readonly<Partial<Record<PlainType, string>>> = {
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** @throws TypeError for a text that is no type */
export function parseType(text: string): ParsedType {
  const isNullable = text.endsWith('?');
  const bare = (isNullable ? text.slice(0, -1) : text).trim();
  const [, generic, inner = ''] = /^(list|map)<(.+)>$/.exec(bare) ?? [];
  if (generic === 'list') return { kind: 'list', items: parseType(inner.trim()), isNullable };
  if (generic === 'map') {
    const comma = inner.indexOf(',');
    const keys = parseType(inner.slice(0, comma).trim());
    if (keys.kind !== 'plain' || !keyTypes.includes(keys.name))
      throw new TypeError(`${text}: the keys of a map are ${keyTypes.join(', ')}`);
    return { kind: 'map', keys, values: parseType(inner.slice(comma + 1).trim()), isNullable };
  }
  const plain = plainTypes.find((name) => name === bare);
  if (plain !== undefined) return { kind: 'plain', name: plain, isNullable };
  if (/^[A-Z]\w+$/.test(bare)) return { kind: 'object', name: bare, isNullable };
  throw new TypeError(`${JSON.stringify(text)} is no type of an expression`);
}

/**
 * Name of the type in cel-js. A plain type that allows null becomes `dyn<…>`: it is checked as the type itself, and again at each
 * evaluation. Null lists, maps and objects are empty ones, so they keep their types.
 */
export function libraryTypeName(type: ParsedType): string {
  if (type.kind === 'list') return `list<${libraryTypeName(type.items)}>`;
  if (type.kind === 'map') return `map<${libraryTypeName(type.keys)}, ${libraryTypeName(type.values)}>`;
  if (type.kind === 'object') return type.name;
  const name = libraryNames[type.name] ?? type.name;
  return type.isNullable && type.name !== 'dyn' ? `dyn<${name}>` : name;
}

/** Names of cel-js in a text, as types of the environment. */
export function readableTypes(text: string): string {
  return text
    .replaceAll('google.protobuf.Timestamp', 'timestamp')
    .replaceAll('google.protobuf.Duration', 'duration')
    .replaceAll('dyn<null>', 'null')
    .replace(/dyn<([^<>]+)>/g, '$1?')
    .replace(/^list$/, 'list<dyn>')
    .replace(/^map$/, 'map<dyn, dyn>');
}

/** A message of cel-js as a sentence. */
export function readableMessage(summary: string): string {
  const text = readableTypes(summary)
    .replace(/\.$/, '')
    .replace(/^no such overload: (.*)$/, 'The types do not fit: $1')
    .replace(/^found no matching overload for '(.*)'$/, 'The types do not fit: $1')
    .replace(/^Cannot index type '(.*)'$/, '$1 has no fields');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
