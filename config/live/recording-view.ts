import type { Field } from '../schema/field.ts';
import { root, type Config } from '../objects/root.ts';

/** Called with the path of every leaf that is read, as in `ConfigPath`. */
export type Recorder = (leafPath: string) => void;

/** Wraps a configuration for its readers. In tests, the wrapper records which leaves are read. */
export type View = (config: Config) => Config;

/**
 * A view that records which leaves are read. Objects are wrapped in proxies; reading a leaf records its path and returns the
 * plain value. Two reads of an unchanged object return the same proxy.
 */
export function recordingView(record: Recorder): View {
  const wrappers = new WeakMap<object, Map<string, object>>();

  function wrap(value: unknown, field: Field, path: string): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const known = wrappers.get(value) ?? new Map<string, object>();
    wrappers.set(value, known);
    const existing = known.get(path);
    if (existing !== undefined) return existing;
    // A proxy of a frozen object must return the true property values, so the target is a copy that is not frozen.
    const copy = Array.isArray(value) ? [...value] : { ...value };
    const wrapper = new Proxy(copy, {
      get: (_, key, receiver) => {
        const property: unknown = Reflect.get(copy, key, receiver);
        return typeof key === 'string' && Object.hasOwn(copy, key) ? read(property, field, path, key) : property;
      },
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
      preventExtensions: () => false,
      setPrototypeOf: () => false,
    });
    known.set(path, wrapper);
    return wrapper;
  }

  function read(value: unknown, parent: Field, parentPath: string, key: string): unknown {
    const child = childOf(parent, parentPath, key);
    if (child === undefined) return value;
    const { field, path } = child;
    const isInner =
      field.type === 'object' ||
      (field.type === 'list' && field.items.type === 'object') ||
      (field.type === 'map' && field.values.type === 'object');
    if (isInner) return wrap(value, field, path);
    record(path);
    return value;
  }

  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a wrapper has the shape of what it wraps
  return (config) => wrap(config, root, '') as Config;
}

function childOf(parent: Field, path: string, key: string): { field: Field; path: string } | undefined {
  switch (parent.type) {
    case 'object': {
      const field = Object.hasOwn(parent.fields, key) ? parent.fields[key] : undefined;
      return field === undefined ? undefined : { field, path: path === '' ? key : `${path}.${key}` };
    }
    case 'list':
      return /^\d+$/u.test(key) ? { field: parent.items, path: `${path}[]` } : undefined;
    case 'map':
      return { field: parent.values, path: `${path}.*` };
    case 'text':
    case 'integer':
    case 'flag':
    case 'text-or-integer':
    case 'any':
    case 'empty':
      return undefined;
  }
}
