import type { Field, ObjectField } from '../schema/field.ts';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { root } from '../objects/root.ts';

/** The path of a key below `path`. */
export const pathOf = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** The known keys of an object, for messages; at most twelve of them. */
export function keyList(field: ObjectField): string {
  const keys = Object.keys(field.fields);
  return keys.length > 12 ? `${keys.slice(0, 12).join(', ')}, …` : keys.join(', ');
}

/** The remedy for an unknown key: a similar key of the same object, the same key elsewhere, or the known keys. */
export function unknownKeyRemedy(field: ObjectField, key: string, path: string): string {
  const near = didYouMean(key, Object.keys(field.fields));
  if (near !== undefined) return `did you mean ${pathOf(path, near)}?`;
  const elsewhere = findKey(root, '', key.toLowerCase());
  return elsewhere === undefined ? `known keys here: ${keyList(field)}` : `did you mean ${elsewhere}?`;
}

/** The first path of the configuration that ends with this key. */
function findKey(field: Field, path: string, key: string): string | undefined {
  if (field.type !== 'object') return undefined;
  for (const name of Object.keys(field.fields)) if (name.toLowerCase() === key) return pathOf(path, name);
  for (const [name, child] of Object.entries(field.fields)) {
    const found = findKey(child, pathOf(path, name), key);
    if (found !== undefined) return found;
  }
  return undefined;
}
