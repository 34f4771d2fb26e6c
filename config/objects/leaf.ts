import { holdsSecret, type Field, type LeafField } from '../schema/field.ts';
import { isPlainObject } from '../schema/is-plain-object.ts';
import { root } from './root.ts';

/** A field that is set as a whole: by its key in the file, or by one environment variable. */
export interface Leaf {
  /** The keys from the root to the leaf. */
  readonly keys: readonly string[];
  /** The keys joined by dots: `server.tls.enabled`. */
  readonly path: string;
  /** `CORE_SERVER_TLS_ENABLED`. */
  readonly variable: string;
  readonly field: LeafField;
  /** Whether it contains a secret: then `<variable>_FILE` is accepted and the value is never shown. */
  readonly secret: boolean;
}

/** Prefix of every environment variable that sets a field. */
export const variablePrefix = 'CORE_';

function collect(field: Field, keys: readonly string[]): Leaf[] {
  if (field.type === 'object') {
    return Object.entries(field.fields).flatMap(([key, child]) => collect(child, [...keys, key]));
  }
  const variable = variablePrefix + keys.join('_').toUpperCase();
  return [{ keys, path: keys.join('.'), variable, field, secret: holdsSecret(field) }];
}

/** Every leaf of the configuration, in the order of the configuration objects. */
export const leaves: readonly Leaf[] = collect(root, []);

/** The leaves by path. */
export const leafByPath: ReadonlyMap<string, Leaf> = new Map(leaves.map((leaf) => [leaf.path, leaf]));

/** The leaves by the name of their environment variable. */
export const leafByVariable: ReadonlyMap<string, Leaf> = new Map(leaves.map((leaf) => [leaf.variable, leaf]));

/** Fields that are accepted without an effect, so that a configuration with them can be used; their descriptions give the reason. */
export const acceptedPaths: readonly string[] = leaves.flatMap(({ path, field }) => (field.noEffect ? [path] : []));

/** The value at a path of keys; undefined where a key is missing. */
export function valueAt(value: unknown, keys: readonly string[]): unknown {
  let current = value;
  for (const key of keys) {
    if (!isPlainObject(current)) return undefined;
    current = current[key];
  }
  return current;
}

/**
 * The paths of all fields with an effect of their own, with `[]` for the items of lists and `*` for those of maps. They are
 * the same paths as in the type `ConfigPath`.
 */
export function effectPaths(field: Field = root, path = ''): string[] {
  if (field.type === 'object') {
    return Object.entries(field.fields).flatMap(([key, child]) =>
      effectPaths(child, path === '' ? key : `${path}.${key}`),
    );
  }
  if (field.type === 'list' && field.items.type === 'object') return effectPaths(field.items, `${path}[]`);
  if (field.type === 'map' && field.values.type === 'object') return effectPaths(field.values, `${path}.*`);
  return [path];
}
