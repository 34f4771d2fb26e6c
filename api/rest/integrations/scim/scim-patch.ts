import { isDeepStrictEqual } from 'node:util';
import { shortened } from '#entities/kit/base/shortened.ts';
import { ScimError } from './scim-error.ts';
import { attributeNamed, isDocument, readAttribute, unknownAttribute } from './scim-documents.ts';
import { parseValueFilter, withoutSchema, type ScimFilter } from './scim-filter.ts';
import { matches } from './scim-matches.ts';
import { commonAttributes, enterpriseSchema, type ScimAttribute, type ScimSchema } from './scim-schemas.ts';

export const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Most operations of a request. */
const maxOperations = 1_000;

/** An operation in one form, however the identity provider writes it. */
export interface ScimOperation {
  readonly op: 'add' | 'replace' | 'remove';
  /** Whether the attribute belongs to the extension. */
  readonly isExtension: boolean;
  readonly attribute: ScimAttribute;
  /** Which of its values; all without one. */
  readonly filter?: ScimFilter;
  /** The comparison `value eq "…"` of the filter. */
  readonly filteredValue?: string;
  readonly sub?: ScimAttribute;
  /** Of a removal: the values to remove; all without one. */
  readonly value?: unknown;
}

/**
 * The operations of a request, in any of the forms that identity providers write: words in any case, values without a path, paths with the
 * id of the schema, truth values as texts.
 * @throws ScimError for what is not understood
 */
export function readOperations(schema: ScimSchema, body: unknown): ScimOperation[] {
  if (!isDocument(body)) throw new ScimError('invalidSyntax', 'The body must be a JSON object.');
  const schemas = body['schemas'];
  if (
    !Array.isArray(schemas) ||
    !schemas.some((one) => typeof one === 'string' && one.toLowerCase() === patchSchema.toLowerCase())
  )
    throw new ScimError('invalidSyntax', `"schemas" must contain ${patchSchema}.`);
  const operations = body['Operations'] ?? body['operations'];
  if (!Array.isArray(operations) || operations.length === 0)
    throw new ScimError('invalidSyntax', '"Operations" must be a list with at least one operation.');
  if (operations.length > maxOperations)
    throw new ScimError('tooMany', `"Operations" has more than ${maxOperations} operations.`);
  return operations.flatMap((operation: unknown, index) => readOperation(schema, operation, index));
}

function readOperation(schema: ScimSchema, operation: unknown, index: number): ScimOperation[] {
  if (!isDocument(operation)) throw new ScimError('invalidSyntax', `Operation ${index} is no object.`);
  const op = typeof operation['op'] === 'string' ? operation['op'].toLowerCase() : '';
  if (op !== 'add' && op !== 'replace' && op !== 'remove')
    throw new ScimError('invalidSyntax', `Operation ${index} must have "op" with add, replace or remove.`);
  const { path, value } = operation;
  if (path !== undefined && path !== null && typeof path !== 'string')
    throw new ScimError('invalidPath', `The path of operation ${index} must be a text.`);
  if (typeof path === 'string' && path.trim() !== '') return atPath(schema, op, path.trim(), value);
  if (op === 'remove') throw new ScimError('noTarget', `Operation ${index} removes and has no path.`);
  if (!isDocument(value))
    throw new ScimError('invalidValue', `Operation ${index} has no path, so its value must be an object.`);
  // Names may be whole paths, as "name.familyName".
  return Object.entries(value)
    .filter(([name]) => !isIgnored(schema, name))
    .flatMap(([name, own]) => atPath(schema, op, name, own));
}

/** `schemas`, and what the server sets: it is ignored within whole objects. */
function isIgnored(schema: ScimSchema, name: string): boolean {
  return (
    attributeNamed([...commonAttributes, ...schema.attributes], name)?.mutability === 'readOnly' ||
    name.toLowerCase() === 'schemas'
  );
}

const pathForm = /^([^[\].]+)(?:\[(.*)\])?(?:\.([^[\].]+))?$/s;

function atPath(schema: ScimSchema, op: ScimOperation['op'], path: string, value: unknown): ScimOperation[] {
  if (schema.name === 'User' && path.toLowerCase() === enterpriseSchema.id.toLowerCase())
    return wholeExtension(op, value);
  const { prefix, rest } = withoutSchema(path, schema);
  const isExtension = prefix !== '';
  const attributes = isExtension ? enterpriseSchema.attributes : [...commonAttributes, ...schema.attributes];
  const [, name = '', condition, subName] = pathForm.exec(rest) ?? [];
  const attribute = attributeNamed(attributes, name);
  if (!attribute) throw unknownAttribute(path, attributes);
  const sub = subName === undefined ? undefined : attributeNamed(attribute.subAttributes ?? [], subName);
  if (subName !== undefined && !sub) throw unknownAttribute(path, attribute.subAttributes ?? []);
  if (attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly')
    throw new ScimError('mutability', `"${shortened(path)}" is set by the server.`);
  const filter = condition === undefined ? undefined : parseValueFilter(attribute, condition);
  if (filter && !attribute.multiValued)
    throw new ScimError('invalidPath', `"${attribute.name}" has one value, so its path has no filter.`);
  const target = {
    isExtension,
    attribute,
    ...(filter ? { filter, ...filteredValueOf(filter) } : {}),
    ...(sub ? { sub } : {}),
  };
  if (op === 'remove' || value === null) {
    const removed = value === undefined || value === null || sub ? undefined : readAttribute(attribute, value, path);
    return [{ ...target, op: 'remove', ...(removed === undefined ? {} : { value: removed }) }];
  }
  if (value === undefined) throw new ScimError('invalidValue', `The operation on "${shortened(path)}" has no value.`);
  if (attribute.returned === 'never') return [];
  return [{ ...target, op, value: valueAt(target, value, path) }];
}

function wholeExtension(op: ScimOperation['op'], value: unknown): ScimOperation[] {
  const { id, attributes } = enterpriseSchema;
  if (op === 'remove') return attributes.map((attribute) => ({ op, isExtension: true, attribute }));
  if (!isDocument(value)) throw new ScimError('invalidValue', `The value of ${id} must be an object.`);
  const named = Object.entries(value).filter(([name]) => name.toLowerCase() !== 'schemas');
  return named.flatMap(([name, own]): ScimOperation[] => {
    const attribute = attributeNamed(attributes, name);
    if (!attribute) throw unknownAttribute(`${id}:${name}`, attributes);
    if (own === null) return [{ op: 'remove', isExtension: true, attribute }];
    return [{ op, isExtension: true, attribute, value: valueAt({ attribute }, own, `${id}:${name}`) }];
  });
}

function filteredValueOf(filter: ScimFilter): { readonly filteredValue?: string } {
  return filter.op === 'eq' && filter.path[0] === 'value' && typeof filter.value === 'string'
    ? { filteredValue: filter.value }
    : {};
}

/** The value for an attribute, for one of its values, or for a part of them. */
function valueAt(
  {
    attribute,
    filter,
    sub,
  }: { readonly attribute: ScimAttribute; readonly filter?: ScimFilter; readonly sub?: ScimAttribute },
  value: unknown,
  path: string,
): unknown {
  if (sub) return readAttribute(sub, value, path);
  if (filter) return readAttribute({ ...attribute, multiValued: false }, isDocument(value) ? value : { value }, path);
  return readAttribute(attribute, value, path);
}

type Resource = Record<string, unknown>;

/**
 * Applies an operation to a resource (RFC 7644, section 3.5.2).
 * @throws ScimError noTarget when a filter finds no value to replace
 */
export function applyOperation(resource: Resource, operation: ScimOperation): void {
  const { isExtension } = operation;
  if (!isExtension) return applyTo(resource, operation);
  const { id } = enterpriseSchema;
  const extension = { ...(isDocument(resource[id]) ? resource[id] : {}) };
  applyTo(extension, operation);
  if (Object.keys(extension).length > 0) resource[id] = extension;
  else delete resource[id];
}

function applyTo(holder: Resource, operation: ScimOperation): void {
  const { attribute, filter, sub } = operation;
  if (attribute.multiValued) return applyToValues(holder, operation);
  if (filter) return;
  if (!sub) return applyToOne(holder, attribute.name, operation);
  const inner = { ...(isDocument(holder[attribute.name]) ? (holder[attribute.name] as Resource) : {}) };
  applyToOne(inner, sub.name, operation);
  if (Object.keys(inner).length > 0) holder[attribute.name] = inner;
  else delete holder[attribute.name];
}

function applyToOne(holder: Resource, name: string, { op, value }: ScimOperation): void {
  if (op === 'remove' || value === undefined) delete holder[name];
  // Parts that the value does not name stay.
  else if (isDocument(value) && isDocument(holder[name])) holder[name] = { ...holder[name], ...value };
  else holder[name] = value;
}

function applyToValues(holder: Resource, { op, attribute, filter, sub, value }: ScimOperation): void {
  const { name } = attribute;
  const values = (Array.isArray(holder[name]) ? holder[name] : []) as readonly Resource[];
  const isMeant = (one: Resource) => !filter || matches(filter, one);
  const next = () => {
    if (op === 'remove') return removed();
    if (sub) return withPart();
    if (filter) return merged();
    const given = (value ?? []) as readonly Resource[];
    return op === 'replace' ? given : united(values, given);
  };
  const removed = () => {
    if (sub)
      return values
        .map((one) => (isMeant(one) ? withoutPart(one, sub.name) : one))
        .filter((one) => Object.keys(one).length > 0);
    const given = (value ?? []) as readonly Resource[];
    if (value !== undefined) return values.filter((one) => !given.some((other) => isSame(one, other)));
    return values.filter((one) => !isMeant(one));
  };
  const withPart = () => {
    const part = { [sub?.name ?? '']: value };
    if (values.some(isMeant)) return values.map((one) => (isMeant(one) ? { ...one, ...part } : one));
    return [...values, { ...implied(filter, name), ...part }];
  };
  const merged = () => {
    const own = value as Resource;
    if (values.some(isMeant)) return values.map((one) => (isMeant(one) ? { ...one, ...own } : one));
    return [...values, { ...implied(filter, name), ...own }];
  };
  const result = onePrimary(next(), values);
  if (result.length > 0) holder[name] = result;
  else delete holder[name];
}

/** A filter that finds nothing describes the value to add, if it is an equation: `emails[type eq "work"].value`. */
function implied(filter: ScimFilter | undefined, name: string): Resource {
  if (!filter) return {};
  if (filter.op === 'eq' && filter.value !== null) return { [filter.path[0] ?? '']: filter.value };
  throw new ScimError('noTarget', `No value of "${name}" matches the filter of the path.`);
}

function united(values: readonly Resource[], given: readonly Resource[]): readonly Resource[] {
  const added = given.filter((one) => !values.some((other) => isDeepStrictEqual(one, other)));
  return [...values.filter((one) => !added.some((other) => isSame(one, other))), ...added];
}

/** Values are the same if their `value` is, and their sort where both have one. */
function isSame(one: Resource, other: Resource): boolean {
  if (one['value'] === undefined || other['value'] === undefined) return isDeepStrictEqual(one, other);
  const isOfSort = one['type'] === undefined || other['type'] === undefined || one['type'] === other['type'];
  return one['value'] === other['value'] && isOfSort;
}

function withoutPart(value: Resource, part: string): Resource {
  const { [part]: _removed, ...rest } = value;
  return rest;
}

/** A new primary value takes the place of the one before it. */
function onePrimary(values: readonly Resource[], before: readonly Resource[]): readonly Resource[] {
  const primary = values.filter((one) => one['primary'] === true);
  if (primary.length < 2) return values;
  const last = primary.findLast((one) => !before.some((old) => isDeepStrictEqual(old, one))) ?? primary.at(-1);
  return values.map((one) => (one['primary'] === true && one !== last ? { ...one, primary: false } : one));
}
