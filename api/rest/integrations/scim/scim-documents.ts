import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { ScimError } from './scim-error.ts';
import { commonAttributes, enterpriseSchema, type ScimAttribute, type ScimSchema } from './scim-schemas.ts';

export type ScimDocument = Readonly<Record<string, unknown>>;

/** Longest text of an attribute, and most values of one. */
const [maxText, maxValues] = [8_192, 10_000];

/** Longest path in an error message: the id of the extension alone has 58 characters. */
const maxPath = 128;

/**
 * A resource as identity providers write it, in the form of its schema: names of attributes have their case, `"True"` is true, and what the
 * server sets itself is left out.
 * @throws ScimError for attributes that the schema does not have, and values of another type
 */
export function readResource(schema: ScimSchema, value: unknown): Record<string, unknown> {
  if (!isDocument(value)) throw new ScimError('invalidSyntax', 'The body must be a JSON object.');
  refuseOtherSchemas(schema, value['schemas']);
  const { schemas: _schemas, [enterpriseSchema.id]: extension, ...core } = withExtension(value);
  const resource = readObject([...commonAttributes, ...schema.attributes], core, '');
  if (extension !== undefined) {
    if (schema.name !== 'User') throw unknownAttribute(enterpriseSchema.id, schema.attributes);
    if (!isDocument(extension)) throw wrongType(enterpriseSchema.id, 'an object');
    const { schemas: _extension, ...own } = extension;
    resource[enterpriseSchema.id] = readObject(enterpriseSchema.attributes, own, `${enterpriseSchema.id}:`);
  }
  return resource;
}

export function isDocument(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuseOtherSchemas({ id }: ScimSchema, schemas: unknown): void {
  const given = Array.isArray(schemas) ? (schemas as unknown[]) : [];
  if (given.some((one) => typeof one === 'string' && one.toLowerCase() === id.toLowerCase())) return;
  throw new ScimError('invalidSyntax', `"schemas" must contain ${id}.`);
}

/** The extension may have its attributes one by one, with the id of the schema before their names. */
function withExtension(value: Record<string, unknown>): Record<string, unknown> {
  const prefix = `${enterpriseSchema.id.toLowerCase()}:`;
  const core: Record<string, unknown> = {};
  let extension: unknown;
  for (const [name, part] of Object.entries(value)) {
    const lower = name.toLowerCase();
    if (lower === enterpriseSchema.id.toLowerCase())
      extension = isDocument(part) && isDocument(extension) ? { ...extension, ...part } : part;
    else if (lower.startsWith(prefix))
      extension = { ...(isDocument(extension) ? extension : {}), [name.slice(prefix.length)]: part };
    else core[name] = part;
  }
  return extension === undefined ? core : { ...core, [enterpriseSchema.id]: extension };
}

function readObject(attributes: readonly ScimAttribute[], value: ScimDocument, path: string): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) {
    const attribute = attributeNamed(attributes, name);
    if (!attribute) throw unknownAttribute(`${path}${name}`, attributes);
    // Read-only attributes are ignored (RFC 7644, section 3.5.1); null means that there is no value (RFC 7643, section 2.5).
    if (attribute.mutability === 'readOnly' || attribute.returned === 'never' || given === null) continue;
    const own = readAttribute(attribute, given, `${path}${attribute.name}`);
    if (own !== undefined) read[attribute.name] = own;
  }
  return read;
}

/** @returns undefined for an empty list, which is no value */
export function readAttribute(attribute: ScimAttribute, value: unknown, path: string): unknown {
  if (!attribute.multiValued) return readValue(attribute, soleValue(attribute, value), path);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > maxValues) throw new ScimError('tooMany', `"${path}" has more than ${maxValues} values.`);
  const values = list
    .filter((one) => one !== null)
    .map((one) => {
      // A value alone stands for an object with it.
      const whole = attribute.type === 'complex' && !isDocument(one) ? { value: one } : one;
      return readValue(attribute, whole, path);
    });
  const primary = values.filter((one) => isDocument(one) && one['primary'] === true);
  if (primary.length > 1) throw new ScimError('invalidValue', `"${path}" has more than one primary value.`);
  return values.length > 0 ? values : undefined;
}

/** Some providers write the manager as its id alone, or as a list with one object. */
function soleValue({ type, subAttributes = [] }: ScimAttribute, value: unknown): unknown {
  if (type !== 'complex' || !attributeNamed(subAttributes, 'value')) return value;
  const sole: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof sole === 'string' ? { value: sole } : sole;
}

function readValue(attribute: ScimAttribute, value: unknown, path: string): unknown {
  const { type, subAttributes = [] } = attribute;
  if (type === 'complex') {
    if (!isDocument(value)) throw wrongType(path, 'an object');
    return readObject(subAttributes, value, `${path}.`);
  }
  if (type === 'boolean') return booleanOf(value, path);
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') throw wrongType(path, 'a text');
  if (value.length > maxText) throw new ScimError('invalidValue', `"${path}" has more than ${maxText} characters.`);
  return value;
}

/** Some providers write truth values as texts. */
function booleanOf(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (word === 'true') return true;
  if (word === 'false') return false;
  throw wrongType(path, 'true or false');
}

export function attributeNamed(attributes: readonly ScimAttribute[], name: string): ScimAttribute | undefined {
  const lower = name.toLowerCase();
  return attributes.find((one) => one.name.toLowerCase() === lower);
}

export function unknownAttribute(path: string, attributes: readonly ScimAttribute[]): ScimError {
  const names = attributes.map(({ name }) => name);
  const near = didYouMean(path.split('.').at(-1) ?? path, names);
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return new ScimError('invalidPath', `"${shortened(path, maxPath)}" is no attribute of this resource.${hint}`);
}

function wrongType(path: string, type: string): ScimError {
  return new ScimError('invalidValue', `"${shortened(path, maxPath)}" must be ${type}.`);
}
