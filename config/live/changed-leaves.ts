import { isDeepStrictEqual } from 'node:util';
import { isPlainObject } from '../schema/is-plain-object.ts';
import { leaves, valueAt, type Leaf } from '../objects/leaf.ts';
import { showValue } from '../schema/show-value.ts';
import type { Config } from '../objects/root.ts';

/** A changed leaf for the log, with secrets masked. */
export interface Change {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

/** The leaves whose values differ. */
export function changedLeaves(from: Config, to: Config): Leaf[] {
  return leaves.filter(({ keys }) => !isDeepStrictEqual(valueAt(from, keys), valueAt(to, keys)));
}

/** A changed leaf with both values, secrets masked. */
export function describeChange({ path, keys, field }: Leaf, from: Config, to: Config): Change {
  return { path, from: showValue(field, valueAt(from, keys)), to: showValue(field, valueAt(to, keys)) };
}

/** Whether a change of this leaf takes effect only after a restart. */
export function needsRestart({ field }: Leaf): boolean {
  return field.restart === true;
}

/**
 * Returns `to`, but with the objects of `from` where they are equal, and with the values of `from` for the leaves in `keep`.
 * Because equal objects are reused, `===` shows that nothing below an object has changed.
 */
export function merge(from: Config, to: Config, keep: readonly Leaf[]): Config {
  const kept = new Set(keep.map((leaf) => leaf.path));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made of parts of two configurations
  return mergeValue(from, to, '', kept) as Config;
}

function mergeValue(from: unknown, to: unknown, path: string, kept: ReadonlySet<string>): unknown {
  if (kept.has(path) || isDeepStrictEqual(from, to)) return from;
  if (!isPlainObject(from) || !isPlainObject(to)) return to;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(to))
    result[key] = mergeValue(from[key], to[key], path === '' ? key : `${path}.${key}`, kept);
  return Object.freeze(isDeepStrictEqual(from, result) ? from : result);
}
