import type { LeafField } from '../schema/field.ts';
import { leafByVariable, leaves, variablePrefix, type Leaf } from '../objects/leaf.ts';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { readTextFile } from './read-file.ts';
import { readValue, invalid, type Reading, type Setting } from './read-value.ts';
import { parseTree, type Tree } from '../schema/parse-tree.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const fileSuffix = '_FILE';

/** Why the text of a variable cannot be parsed. */
interface TextProblem {
  readonly reason: string;
  readonly remedy: string;
}

function scalar(value: boolean | number | string): Tree {
  return { type: 'scalar', line: 1, value };
}

function list(texts: readonly string[]): Tree {
  return { type: 'list', line: 1, items: texts.map(scalar) };
}

/**
 * Parses the text of a variable by the type of its field: JSON for maps, lists of objects and arbitrary values, commas
 * between the texts of a list. A text that is not a number or a boolean stays a text, which the field then rejects.
 */
function treeOf(field: LeafField, text: string): Tree | TextProblem {
  switch (field.type) {
    case 'text':
    case 'text-or-integer':
      return scalar(text);
    case 'integer':
      return scalar(/^[+-]?\d+$/u.test(text.trim()) ? Number(text) : text);
    case 'flag': {
      const lower = text.trim().toLowerCase();
      return scalar(lower === 'true' || lower === 'false' ? lower === 'true' : text);
    }
    case 'list':
      if (field.items.type === 'text' && !text.trimStart().startsWith('[')) {
        return list(text.trim() === '' ? [] : text.split(',').map((part) => part.trim()));
      }
      return text.trim() === '' ? list([]) : json(text);
    case 'map':
    case 'empty':
      return text.trim() === '' ? { type: 'map', line: 1, entries: new Map() } : json(text);
    case 'any':
      return json(text);
  }
}

function json(text: string): Tree | TextProblem {
  const parsed = parseTree(text);
  if ('tree' in parsed) return parsed.tree;
  return { reason: parsed.unreadable[0]?.reason ?? 'is not JSON', remedy: 'write it as JSON' };
}

/** Reads the file that a `…_FILE` variable names, without a newline at its end. */
async function readSecretFile(
  variable: string,
  file: string,
  path: string,
  reading: Reading,
): Promise<string | typeof invalid> {
  const text = await readTextFile(file);
  if (typeof text === 'string') return text.replace(/\r?\n$/u, '');
  reading.report({ where: variable, path, reason: `the file it names ${text.reason}`, remedy: text.remedy });
  return invalid;
}

function reportUnknown(variable: string, reading: Reading): void {
  const leaf = variable.endsWith(fileSuffix) ? leafByVariable.get(variable.slice(0, -fileSuffix.length)) : undefined;
  if (leaf !== undefined) {
    reading.report({
      where: variable,
      path: leaf.path,
      reason: 'is only accepted for secrets',
      remedy: `set ${leaf.variable} to the value itself`,
    });
    return;
  }
  const known = leaves.flatMap((candidate) =>
    candidate.secret ? [candidate.variable, candidate.variable + fileSuffix] : [candidate.variable],
  );
  const near = didYouMean(variable, known);
  reading.report({
    where: variable,
    path: '',
    reason: 'is not a known variable',
    remedy:
      near === undefined
        ? `unset it; the name of a variable is ${variablePrefix} and the path of a field in upper case, joined with _`
        : `did you mean ${near}?`,
  });
}

/** Sets one leaf from its variable, or from the file that its `…_FILE` names. */
async function readLeaf(
  leaf: Leaf,
  environment: Environment,
  reading: Reading,
  settings: Map<string, Setting>,
): Promise<void> {
  const { variable, path, field } = leaf;
  const file = leaf.secret ? environment[variable + fileSuffix] : undefined;
  let text = environment[variable];
  let where = variable;
  if (file !== undefined) {
    where = variable + fileSuffix;
    if (text !== undefined) {
      reading.report({ where, path, reason: `is set, and so is ${variable}`, remedy: 'unset one of them' });
      settings.set(path, { value: invalid, where });
      return;
    }
    const content = await readSecretFile(where, file, path, reading);
    if (content === invalid) {
      settings.set(path, { value: invalid, where });
      return;
    }
    text = content;
  }
  if (text === undefined) return;
  const tree = treeOf(field, text);
  if ('reason' in tree) {
    reading.report({ where, path, ...tree });
    settings.set(path, { value: invalid, where });
    return;
  }
  settings.set(path, { value: readValue(field, tree, path, { ...reading, where: () => where }), where });
}

/**
 * Reads every `CORE_…` variable into `settings`, replacing existing values. Returns the variables that belong to no field;
 * they may be API token keys.
 */
export async function readEnvironment(
  environment: Environment,
  { report, settings }: Pick<Reading, 'report'> & { readonly settings: Map<string, Setting> },
): Promise<string[]> {
  const here: Reading = { report, where: () => '' };
  const unknown: string[] = [];
  const named = new Set<Leaf>();
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith(variablePrefix)) continue;
    const base = variable.endsWith(fileSuffix) ? leafByVariable.get(variable.slice(0, -fileSuffix.length)) : undefined;
    const leaf = leafByVariable.get(variable) ?? (base?.secret === true ? base : undefined);
    if (leaf === undefined) unknown.push(variable);
    else named.add(leaf);
  }
  for (const leaf of named) await readLeaf(leaf, environment, here, settings);
  return unknown;
}

/** Reports variables that are neither fields nor API token keys. */
export function reportUnknownVariables(variables: readonly string[], report: Reading['report']): void {
  for (const variable of variables) reportUnknown(variable, { report, where: () => variable });
}

/** Reads the API token keys from the environment variables whose name begins with `prefix`. */
export async function readApiTokenKeys(
  environment: Environment,
  prefix: string,
  field: LeafField,
  report: Reading['report'],
): Promise<Record<string, unknown>> {
  const keys: Record<string, unknown> = {};
  for (const [variable, value] of Object.entries(environment)) {
    if (prefix === '' || !variable.startsWith(prefix) || variable === prefix || value === undefined) continue;
    const reading: Reading = { report, where: () => variable };
    const path = 'auth.token.apitokens.keys';
    const isFile = variable.endsWith(fileSuffix);
    const text = isFile ? await readSecretFile(variable, value, path, reading) : value;
    if (text === invalid) continue;
    const id = variable.slice(prefix.length, isFile ? -fileSuffix.length : undefined).toLowerCase();
    const match = /^(?:(?<status>active|deprecated|revoked):)?(?<secret>.*)$/su.exec(text)?.groups;
    const entries = new Map([
      ['secret', { line: 1, tree: scalar(match?.secret ?? '') }],
      ['status', { line: 1, tree: scalar(match?.status ?? 'active') }],
    ]);
    const key: Tree = { type: 'map', line: 1, entries };
    const read = readValue(
      field,
      { type: 'map', line: 1, entries: new Map([[id, { line: 1, tree: key }]]) },
      path,
      reading,
    );
    if (read === invalid) continue;
    if (Object.hasOwn(keys, id))
      report({ where: variable, path: `${path}.${id}`, reason: 'is given twice', remedy: 'unset one of them' });
    Object.assign(keys, read);
  }
  return keys;
}
