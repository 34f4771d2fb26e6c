import { readStateFolder } from './standard-variables.ts';
import { isAbsolute, join } from 'node:path';
import { isPlainObject } from '../schema/is-plain-object.ts';
import { leafByPath, leaves, valueAt, type Leaf } from '../objects/leaf.ts';
import { Loading } from './loading.ts';
import { generatedSecrets, readOrMakeLocalSecrets } from './local-secrets.ts';
import { readApiTokenKeys, readEnvironment, reportUnknownVariables, type Environment } from './read-environment.ts';
import { readTextFile } from './read-file.ts';
import { readObject, invalid, type Setting } from './read-value.ts';
import { pendingCapability } from '../objects/pending.ts';
import { root, type Config } from '../objects/root.ts';
import { howToSet } from '../objects/rule.ts';
import { checkRules } from './check-rules.ts';
import { parseTree, type Tree } from '../schema/parse-tree.ts';

/** Where the configuration comes from. */
export interface LoadOptions {
  /** The file named by `--config`, which must exist. Without it, `config/config.yaml` is read if it exists. */
  readonly file?: string | undefined;
  /** Environment variables; by default those of the process. */
  readonly environment?: Environment;
  /** Folder for relative paths; by default the working directory. */
  readonly directory?: string;
  /** Local state folder for generated development secrets; by default see `readStateFolder`. */
  readonly stateFolder?: string;
}

/** A loaded configuration. */
export interface LoadedConfiguration {
  readonly config: Config;
  /** The file that was read, if any. */
  readonly file: string | undefined;
  /** Paths of fields that are set but have no effect, in this product or yet. */
  readonly noEffect: readonly string[];
}

/** The file that is read by default. */
const defaultFile = join('config', 'config.yaml');

/** A configuration while it is loaded. */
type Draft = Record<string, unknown>;

/** Rules and readers use a draft with the type of the finished configuration. */
function asConfig(draft: Draft): Config {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `resolve` gives every leaf a value of its type
  return draft as unknown as Config;
}

function treeProblem(tree: Tree): { reason: string; remedy: string } | undefined {
  if (tree.type === 'map') return undefined;
  if (tree.type === 'scalar' && tree.value === null) {
    return { reason: 'is empty', remedy: 'copy config/config.example.yaml, or remove the file' };
  }
  const kind = tree.type === 'list' ? 'a list' : 'a single value';
  return { reason: `is ${kind}, not an object`, remedy: 'write key: value' };
}

/** Reads the file into the settings. `unreadable`: its settings are unknown. */
async function readFileLayer(
  file: string,
  name: string,
  isNamed: boolean,
  loading: Loading,
): Promise<'read' | 'missing' | 'unreadable'> {
  const text = await readTextFile(file);
  if (typeof text !== 'string') {
    if (text.isMissing && !isNamed) return 'missing';
    loading.report({ where: name, path: '', reason: text.reason, remedy: text.remedy });
    return 'unreadable';
  }
  const where = (line: number): string => `${name}:${line}`;
  const parsed = parseTree(text);
  if ('unreadable' in parsed) {
    for (const { line, ...rest } of parsed.unreadable) loading.report({ where: where(line), path: '', ...rest });
    return 'unreadable';
  }
  const problem = treeProblem(parsed.tree);
  if (problem !== undefined) {
    loading.report({ where: where(parsed.tree.line), path: '', ...problem });
    return 'unreadable';
  }
  readObject(root, parsed.tree, '', { report: loading.report, where }, loading.settings);
  return 'read';
}

function setAt(draft: Draft, keys: readonly string[], value: unknown): void {
  let current = draft;
  for (const key of keys.slice(0, -1)) {
    const next = current[key];
    const child = isPlainObject(next) ? next : {};
    current[key] = child;
    current = child;
  }
  current[keys.at(-1) ?? ''] = value;
}

function defaultOf({ field }: Leaf): unknown {
  if ('default' in field) return field.default;
  return field.type === 'empty' ? {} : undefined;
}

/** The defaults, replaced by the values that were set. */
function resolve(settings: ReadonlyMap<string, Setting>): Draft {
  const draft: Draft = {};
  for (const leaf of leaves) {
    const set = settings.get(leaf.path);
    setAt(draft, leaf.keys, set === undefined || set.value === invalid ? defaultOf(leaf) : set.value);
  }
  return draft;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

/** Sets fields that are still empty from `domain`. */
function inheritDomain(draft: Draft): void {
  const { domain } = asConfig(draft);
  if (domain === '') return;
  for (const { field, keys } of leaves) {
    if (!('fromDomain' in field) || field.fromDomain === undefined) continue;
    if (isEmpty(valueAt(draft, keys))) setAt(draft, keys, field.fromDomain(domain));
  }
}

function checkRequired(draft: Draft, loading: Loading): void {
  for (const { field, keys, path } of leaves) {
    const isMissing = field.type === 'text' && field.required === true && valueAt(draft, keys) === '';
    if (isMissing && !loading.isInvalid(path)) loading.reportField(path, 'is missing', howToSet(path));
  }
}

/** Adds the API token keys from the environment. Returns the variables that are neither fields nor such keys. */
async function addApiTokenKeys(
  draft: Draft,
  environment: Environment,
  variables: readonly string[],
  loading: Loading,
): Promise<readonly string[]> {
  const { enabled, envprefix, keys } = asConfig(draft).auth.token.apitokens;
  const rest = variables.filter((variable) => envprefix === '' || !variable.startsWith(envprefix));
  const path = 'auth.token.apitokens.keys';
  const leaf = leafByPath.get(path);
  if (!enabled || leaf === undefined || loading.isInvalid(path)) return rest;
  const found = await readApiTokenKeys(environment, envprefix, leaf.field, loading.report);
  for (const id of Object.keys(found).filter((key) => Object.hasOwn(keys, key))) {
    loading.reportField(
      path,
      `has the key ${id}, and so has a variable beginning with ${envprefix}`,
      'remove one of them',
    );
  }
  setAt(draft, leaf.keys, { ...keys, ...found });
  return rest;
}

async function addLocalSecrets(draft: Draft, stateFolder: string): Promise<void> {
  if (!asConfig(draft).server.dev) return;
  const missing = generatedSecrets.filter((path) => valueAt(draft, path.split('.')) === '');
  if (missing.length === 0) return;
  const secrets = await readOrMakeLocalSecrets(stateFolder);
  for (const path of missing) setAt(draft, path.split('.'), secrets[path]);
}

/** Freezes a value and everything below it. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(freeze);
  return Object.freeze(value);
}

function pathsWithoutEffect(settings: ReadonlyMap<string, Setting>): string[] {
  return [...settings.keys()].filter((path) => {
    const leaf = leafByPath.get(path);
    return leaf !== undefined && (leaf.field.noEffect === true || pendingCapability(path) !== undefined);
  });
}

/**
 * Loads the configuration: defaults, then the file, then the environment, then values from `domain` for fields that are
 * still empty. The result is deeply frozen. Throws one `ConfigurationError` that lists all problems.
 */
export async function loadConfiguration(options: LoadOptions = {}): Promise<LoadedConfiguration> {
  const { directory = process.cwd(), environment = process.env } = options;
  const { stateFolder = readStateFolder(environment) } = options;
  const at = (path: string): string => (path === '' || isAbsolute(path) ? path : join(directory, path));
  const name = options.file ?? defaultFile;
  const loading = new Loading(name);
  const outcome = await readFileLayer(at(name), name === '' ? '--config' : name, options.file !== undefined, loading);
  const unknown = await readEnvironment(environment, loading);

  const draft = resolve(loading.settings);
  inheritDomain(draft);
  reportUnknownVariables(await addApiTokenKeys(draft, environment, unknown, loading), loading.report);
  // When the file cannot be read, missing and contradictory fields would only be a consequence.
  if (outcome !== 'unreadable') {
    checkRequired(draft, loading);
    checkRules(asConfig(draft), loading);
  }
  loading.throwProblems();

  await addLocalSecrets(draft, at(stateFolder));
  const file = outcome === 'read' ? at(name) : undefined;
  return { config: freeze(asConfig(draft)), file, noEffect: pathsWithoutEffect(loading.settings) };
}

/** The file named by `--config FILE` or `--config=FILE` among command-line arguments; undefined without it. */
export function configFileArgument(args: readonly string[]): string | undefined {
  const index = args.findLastIndex((arg) => arg === '--config' || arg.startsWith('--config='));
  const arg = args[index];
  if (arg === undefined) return undefined;
  return arg === '--config' ? (args[index + 1] ?? '') : arg.slice('--config='.length);
}
