import type { Field, IntegerField, LeafField, ObjectField, TextField } from '../schema/field.ts';
import { quote, showValue } from '../schema/show-value.ts';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { keyList, pathOf, unknownKeyRemedy } from './unknown-key-remedy.ts';
import type { Problem } from '../schema/config-problem.ts';
import { numberProblem, textInsteadRemedy } from './read-number.ts';
import type { Tree } from '../schema/parse-tree.ts';

/** Where a tree comes from, and where problems are reported. */
export interface Reading {
  /** `file:line`, or the name of the variable. */
  readonly where: (line: number) => string;
  readonly report: (problem: Problem) => void;
}

/** Placeholder for a value that was rejected. */
export const invalid: unique symbol = Symbol('invalid');

/** A value set by the file or by a variable, or the origin of an object. */
export interface Setting {
  readonly value: unknown;
  readonly where: string;
}

/** A key for messages. Of `signingkey:abc` (a missing space), the part after the colon is hidden, because it may be a secret. */
function showKey(key: string): string {
  const safe = /^[\w./-]{1,100}/u.exec(key)?.[0] ?? '';
  return safe === key ? key : `${safe}…`;
}

/**
 * Reads the tree of an object with fixed keys and adds its leaves to `settings` by path. A rejected value is reported and
 * added as `invalid`.
 */
export function readObject(
  field: ObjectField,
  tree: Tree,
  path: string,
  reading: Reading,
  settings: Map<string, Setting>,
): void {
  const entries = entriesOf(field, tree, path, reading);
  for (const [key, { line, tree: child, field: childField }] of entries ?? []) {
    const childPath = pathOf(path, key);
    if (childField.type === 'object') {
      // The origin of the object, for problems about missing fields below it.
      settings.set(childPath, { value: undefined, where: reading.where(line) });
      readObject(childField, child, childPath, reading, settings);
    } else
      settings.set(childPath, { value: readValue(childField, child, childPath, reading), where: reading.where(line) });
  }
}

/** Reads the tree of one leaf. Returns its value, with defaults in items of lists and maps, or reports a problem and returns `invalid`. */
export function readValue(field: LeafField | ObjectField, tree: Tree, path: string, reading: Reading): unknown {
  switch (field.type) {
    case 'text':
      return readText(field, tree, path, reading);
    case 'integer':
      return readInteger(field, tree, path, reading);
    case 'flag':
      return readFlag(field, tree, path, reading);
    case 'list':
      return readList(field.items, tree, path, reading);
    case 'map':
      return readMap(field, tree, path, reading);
    case 'object':
      return readItem(field, tree, path, reading);
    case 'text-or-integer':
      return tree.type === 'scalar' && typeof tree.value === 'number'
        ? readInteger(field.integer, tree, path, reading)
        : readText({ ...field.text, required: true }, tree, path, reading);
    case 'any':
      return toJson(tree);
    case 'empty':
      return tree.type === 'map' && tree.entries.size === 0
        ? {}
        : fail(tree, path, reading, field, 'must be an object without keys', 'write {} or remove it');
  }
}

function fail(
  tree: Tree,
  path: string,
  reading: Reading,
  field: Field,
  reason: string,
  remedy: string,
): typeof invalid {
  const value = tree.type === 'scalar' && tree.value !== null ? showScalar(field, tree.value) : undefined;
  reading.report({ where: reading.where(tree.line), path, ...(value === undefined ? {} : { value }), reason, remedy });
  return invalid;
}

/** Shows a value only for a field with a scalar type: a text where an object is expected may be a misplaced secret. */
function showScalar(field: Field, value: boolean | number | string): string | undefined {
  if (field.type === 'text')
    return typeof value === 'string' || field.secret !== undefined ? showValue(field, String(value)) : String(value);
  if (field.type === 'integer' || field.type === 'flag' || field.type === 'text-or-integer') {
    return typeof value === 'string' ? quote(value) : String(value);
  }
  return undefined;
}

function typeOf(tree: Tree): string {
  if (tree.type !== 'scalar') return tree.type === 'list' ? 'a list' : 'an object';
  if (tree.value === null) return 'empty';
  if (typeof tree.value === 'string') return 'a text';
  return typeof tree.value === 'number' ? 'a number' : 'true or false';
}

const fillOrRemove = 'write a value, or remove the key';

function readText(field: TextField, tree: Tree, path: string, reading: Reading): string | typeof invalid {
  if (tree.type !== 'scalar' || typeof tree.value !== 'string') {
    const isEmpty = tree.type === 'scalar' && tree.value === null;
    const like = field.format === undefined ? '' : `, like ${field.format.example}`;
    const remedy = tree.type === 'scalar' ? `write it in quotes${like}` : 'write a text';
    return fail(tree, path, reading, field, `is ${typeOf(tree)}, not a text`, isEmpty ? fillOrRemove : remedy);
  }
  const text = tree.value;
  const refuse = (reason: string, remedy: string): typeof invalid => fail(tree, path, reading, field, reason, remedy);
  if (text.includes('\0')) return refuse('contains a NUL character', 'remove it');
  if (text === '' && field.required === true) return refuse('is empty', fillOrRemove);
  if (field.values !== undefined && text !== '' && !field.values.includes(text)) {
    const near = field.secret === undefined ? didYouMean(text, field.values) : undefined;
    const all = field.values.filter((value) => value !== '').join(', ');
    return refuse('is not one of the allowed values', `${near === undefined ? '' : `write ${near}; `}allowed: ${all}`);
  }
  if (text === '')
    return field.values === undefined || field.values.includes('') || field.default === ''
      ? ''
      : refuse('is empty', fillOrRemove);
  const { minLength = 0, maxLength = 10_000 } = field;
  if (text.length < minLength) return refuse(`is shorter than ${minLength} characters`, lengthRemedy(field, minLength));
  if (text.length > maxLength) return refuse(`is longer than ${maxLength} characters`, 'shorten it');
  const reason = field.format?.check(text);
  return reason === undefined ? text : refuse(reason, `write it like ${field.format?.example ?? ''}`);
}

function lengthRemedy(field: TextField, minLength: number): string {
  return field.secret === undefined
    ? `write at least ${minLength} characters`
    : 'make one with: openssl rand -base64 48';
}

function readInteger(field: IntegerField, tree: Tree, path: string, reading: Reading): number | typeof invalid {
  if (tree.type !== 'scalar' || typeof tree.value !== 'number') {
    if (tree.type === 'scalar' && tree.value === null)
      return fail(tree, path, reading, field, 'is empty', fillOrRemove);
    const text = tree.type === 'scalar' && typeof tree.value === 'string' ? tree.value : '';
    const reason = `is ${typeOf(tree)}, not a whole number`;
    return fail(tree, path, reading, field, reason, textInsteadRemedy(field, text));
  }
  const problem = numberProblem(field, tree.value);
  return problem === undefined ? tree.value : fail(tree, path, reading, field, problem.reason, problem.remedy);
}

function readFlag(field: Field, tree: Tree, path: string, reading: Reading): boolean | typeof invalid {
  if (tree.type === 'scalar' && typeof tree.value === 'boolean') return tree.value;
  return fail(
    tree,
    path,
    reading,
    field,
    `is ${typeOf(tree)}, not true or false`,
    'write true or false, without quotes',
  );
}

function readList(items: Field, tree: Tree, path: string, reading: Reading): unknown[] | typeof invalid {
  if (tree.type !== 'list') {
    reading.report({
      where: reading.where(tree.line),
      path,
      reason: `is ${typeOf(tree)}, not a list`,
      remedy: 'write a list, such as [a, b]',
    });
    return invalid;
  }
  const field = items.type === 'text' ? { ...items, required: true as const } : items;
  const values = tree.items.map((item, index) => readValue(field, item, `${path}[${index}]`, reading));
  return values.includes(invalid) ? invalid : values;
}

function readMap(field: Extract<Field, { type: 'map' }>, tree: Tree, path: string, reading: Reading): unknown {
  if (tree.type !== 'map') {
    const reason = `is ${typeOf(tree)}, not an object`;
    reading.report({
      where: reading.where(tree.line),
      path,
      reason,
      remedy: `write an object with one entry per ${field.keyLabel}`,
    });
    return invalid;
  }
  const result: Record<string, unknown> = {};
  let isValid = true;
  for (const [key, { line, tree: child }] of tree.entries) {
    const reason = key.includes('\0') ? 'contains a NUL character' : field.keyFormat?.check(key);
    if (reason !== undefined || key === '') {
      const shown = `${path}.${showKey(key)}`;
      reading.report({
        where: reading.where(line),
        path: shown,
        reason: `its key ${reason ?? 'is empty'}`,
        remedy: `write the ${field.keyLabel} as key`,
      });
      isValid = false;
      continue;
    }
    result[key] = readValue(field.values, child, pathOf(path, key), reading);
    isValid &&= result[key] !== invalid;
  }
  return isValid ? result : invalid;
}

/** Reads an item of a list or map. Missing keys get their defaults. */
function readItem(field: ObjectField, tree: Tree, path: string, reading: Reading): unknown {
  const entries = entriesOf(field, tree, path, reading);
  if (entries === undefined) return invalid;
  let isValid = tree.type === 'map' && tree.entries.size === entries.size;
  const result: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(field.fields)) {
    const entry = entries.get(key);
    if (entry !== undefined) {
      result[key] = readValue(child, entry.tree, pathOf(path, key), reading);
    } else if ('required' in child && child.required === true) {
      const where = reading.where(tree.line);
      reading.report({ where, path: pathOf(path, key), reason: 'is missing', remedy: 'add it' });
      result[key] = invalid;
    } else {
      result[key] =
        'default' in child
          ? child.default
          : child.type === 'object'
            ? readItem(child, { ...emptyMap, line: tree.line }, path, reading)
            : undefined;
    }
    isValid &&= result[key] !== invalid;
  }
  return isValid ? result : invalid;
}

const emptyMap: Tree = { type: 'map', line: 0, entries: new Map() };

/** The known keys of an object with their fields. Unknown keys are reported. Undefined when the tree is not an object. */
function entriesOf(field: ObjectField, tree: Tree, path: string, reading: Reading) {
  const entries = new Map<string, { line: number; tree: Tree; field: Field }>();
  // For example `server:` with all its keys commented out.
  if (tree.type === 'scalar' && tree.value === null) return entries;
  if (tree.type !== 'map') {
    const reason = `is ${typeOf(tree)}, not an object`;
    reading.report({
      where: reading.where(tree.line),
      path,
      reason,
      remedy: `write its keys below it: ${keyList(field)}`,
    });
    return undefined;
  }
  for (const [key, entry] of tree.entries) {
    const child = Object.hasOwn(field.fields, key) ? field.fields[key] : undefined;
    if (child !== undefined) entries.set(key, { ...entry, field: child });
    else
      reading.report({
        where: reading.where(entry.line),
        path: pathOf(path, showKey(key)),
        reason: 'is not a known key',
        remedy: unknownKeyRemedy(field, key, path),
      });
  }
  return entries;
}

/** A tree as a JSON value. */
function toJson(tree: Tree): unknown {
  if (tree.type === 'scalar') return tree.value;
  if (tree.type === 'list') return tree.items.map(toJson);
  return Object.fromEntries([...tree.entries].map(([key, { tree: child }]) => [key, toJson(child)]));
}
