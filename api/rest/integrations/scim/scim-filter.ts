import { parse, type Filter } from 'scim2-parse-filter';
import { ScimError } from './scim-error.ts';
import { attributeNamed } from './scim-documents.ts';
import { commonAttributes, enterpriseSchema, type ScimAttribute, type ScimSchema } from './scim-schemas.ts';

/** Longest filter, in characters, most comparisons in one, and most parentheses in each other. */
const [maxLength, maxComparisons, maxDepth] = [2_048, 50, 20];

const example = 'Write it as in: userName eq "ann@example.com" and active eq true.';

type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'lt' | 'ge' | 'le';

/** A filter whose attributes exist. Paths are names in the case of the schema. */
export type ScimFilter =
  | { readonly op: 'and' | 'or'; readonly filters: readonly ScimFilter[] }
  | { readonly op: 'not'; readonly filter: ScimFilter }
  | { readonly op: '[]'; readonly path: readonly string[]; readonly filter: ScimFilter }
  | { readonly op: 'pr'; readonly path: readonly string[] }
  | {
      readonly op: Comparison;
      readonly path: readonly string[];
      readonly value: string | boolean | null;
      /** Whether the case of letters matters. */
      readonly isExact: boolean;
    };

/**
 * A filter (RFC 7644, section 3.4.2.2).
 * @throws ScimError invalidFilter
 */
export function parseFilter(schema: ScimSchema, text: string): ScimFilter {
  return checked(parsed(text), [...commonAttributes, ...schema.attributes], schema);
}

/** A filter on the values of an attribute, as it stands in a path. */
export function parseValueFilter({ name, subAttributes = [] }: ScimAttribute, text: string): ScimFilter {
  if (subAttributes.length === 0) throw new ScimError('invalidPath', `"${name}" has no values to filter.`);
  return checked(parsed(text), subAttributes);
}

function parsed(text: string): Filter {
  if (text.length > maxLength)
    throw new ScimError('invalidFilter', `The filter has more than ${maxLength} characters.`);
  // Line breaks in an open text would take the pattern of the parser exponential time.
  if (/\p{Cc}/u.test(text)) throw new ScimError('invalidFilter', 'The filter has control characters.');
  if (depthOf(text) > maxDepth)
    throw new ScimError('invalidFilter', `The filter has more than ${maxDepth} parentheses in each other.`);
  try {
    const filter = parse(withPartsInside(text));
    if (countOf(filter) > maxComparisons)
      throw new ScimError('invalidFilter', `The filter has more than ${maxComparisons} comparisons.`);
    return filter;
  } catch (error) {
    if (error instanceof ScimError) throw error;
    throw new ScimError('invalidFilter', `The filter cannot be read. ${example}`);
  }
}

function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[()]/g)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const brackets = /"(?:[^"\\]|\\.)*"|\[|\](?:\.([\w$-]+)\s+(pr\b|\w+\s+(?:"(?:[^"\\]|\\.)*"|[^\s()[\]]+)))?/gi;

/**
 * `emails[type eq "work"].value eq "…"`, which some identity providers write, means one value with both. The parser would ask for any two, so
 * the second comparison is moved to the first.
 */
function withPartsInside(text: string): string {
  return text.replaceAll(brackets, (token: string, part?: string, comparison?: string) => {
    if (token.startsWith('"')) return token;
    if (token === '[') return '[(';
    return part === undefined ? ')]' : `) and ${part} ${comparison}]`;
  });
}

function countOf(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, one) => sum + countOf(one), 0);
  if ('filter' in filter) return countOf(filter.filter);
  return 'valFilter' in filter ? countOf(filter.valFilter) : 1;
}

function checked(filter: Filter, attributes: readonly ScimAttribute[], schema?: ScimSchema): ScimFilter {
  if ('filters' in filter)
    return { op: filter.op, filters: filter.filters.map((one) => checked(one, attributes, schema)) };
  if ('filter' in filter) return { op: filter.op, filter: checked(filter.filter, attributes, schema) };
  const { path, attribute } = attributeAt(filter.attrPath, attributes, schema);
  if ('valFilter' in filter)
    return { op: filter.op, path, filter: checked(filter.valFilter, attribute.subAttributes ?? []) };
  if (filter.op === 'pr') return { op: filter.op, path };
  return { op: filter.op, ...compared(path, attribute, filter) };
}

/** A comparison with an attribute that has parts is one with its value, as in `members eq "…"`. */
function compared(
  path: readonly string[],
  attribute: ScimAttribute,
  { op, attrPath, compValue }: Extract<Filter, { compValue: unknown }>,
): { readonly path: readonly string[]; readonly value: string | boolean | null; readonly isExact: boolean } {
  const value = attribute.subAttributes && attributeNamed(attribute.subAttributes, 'value');
  if (attribute.subAttributes && !value)
    throw new ScimError('invalidFilter', `The filter compares "${attrPath}", which has parts; name one of them.`);
  const { type, caseExact } = value ?? attribute;
  const whole = { path: value ? [...path, value.name] : path, isExact: caseExact };
  if (compValue === null) return { ...whole, value: null };
  if (type !== 'boolean') return { ...whole, value: String(compValue) };
  const word = String(compValue).toLowerCase();
  if ((op !== 'eq' && op !== 'ne') || (word !== 'true' && word !== 'false'))
    throw new ScimError('invalidFilter', `"${attrPath}" can only be equal to true or false, or not.`);
  return { ...whole, value: word === 'true' };
}

function attributeAt(
  attrPath: string,
  attributes: readonly ScimAttribute[],
  schema: ScimSchema | undefined,
): { readonly path: readonly string[]; readonly attribute: ScimAttribute } {
  const { prefix, rest } = withoutSchema(attrPath, schema);
  const [name = '', sub, ...others] = rest.split('.');
  const attribute = attributeNamed(prefix === '' ? attributes : enterpriseSchema.attributes, name);
  const inner = sub === undefined ? undefined : attributeNamed(attribute?.subAttributes ?? [], sub);
  if (!attribute || others.length > 0 || (sub !== undefined && !inner))
    throw new ScimError('invalidFilter', `The filter names "${attrPath}", which is no attribute.`);
  const extension = prefix === '' ? [] : [enterpriseSchema.id];
  return {
    path: [...extension, attribute.name, ...(inner ? [inner.name] : [])],
    attribute: inner ?? attribute,
  };
}

/** A path without the id of the schema of the resource; the extension stays before its attributes. */
export function withoutSchema(
  path: string,
  schema: ScimSchema | undefined,
): { readonly prefix: string; readonly rest: string } {
  const lower = path.toLowerCase();
  const own = `${schema?.id.toLowerCase()}:`;
  if (schema && lower.startsWith(own)) return { prefix: '', rest: path.slice(own.length) };
  const extension = `${enterpriseSchema.id}:`;
  if (schema?.name === 'User' && lower.startsWith(extension.toLowerCase()))
    return { prefix: extension, rest: path.slice(extension.length) };
  return { prefix: '', rest: path };
}
