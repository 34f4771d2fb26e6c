import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastLine, runHelper } from '../machine/helper-process.ts';
import { withProgress } from '../machine/progress-report.ts';
import { messageOf, StackError } from '../machine/stack-error.ts';
import type { RouteContext } from './binary-route.ts';

/** The folder of go.mod and go.sum, which pin the module and its dependencies. */
const MODULE_DIRECTORY = fileURLToPath(new URL('..', import.meta.url));

/** Where the installer of Go puts it; this folder is often not on PATH. */
const USUAL_GO = '/usr/local/go/bin/go';

/** Builds the binary with Go from the pinned module. Go's caches are used, so the next attempt continues an interrupted build. */
export async function buildGoModule(context: RouteContext): Promise<string> {
  const { spec, target, report, stateDir, signal } = context;
  const module = spec.goModule;
  if (module === undefined) throw new StackError('no Go module is pinned');
  const go = await findGo(context);
  const options = {
    stateDir,
    signal,
    cwd: MODULE_DIRECTORY,
    variables: {
      ...context.variables,
      GOFLAGS: '-mod=readonly',
      GOWORK: 'off',
      // Temporary files of a killed build are deleted together with the folder of the unfinished binary.
      GOTMPDIR: dirname(target),
      // Without a terminal, git would wait forever for a password.
      GIT_TERMINAL_PROMPT: '0',
    },
  };
  await withProgress(
    report,
    `${spec.title} ${spec.version}: building from source with Go (takes some minutes)`,
    async (step) => {
      let packages = 0;
      let downloaded = 0;
      const list = await runHelper(go, ['list', '-deps', '-f', '{{.ImportPath}}', module.package], {
        ...options,
        onLine: (line) => {
          if (!line.startsWith('go: downloading')) packages += 1;
          else step(`${(downloaded += 1)} modules downloaded`);
        },
      });
      if (list.exitCode !== 0) throw new StackError(`go list: ${lastLine(list.output)}`);
      let compiled = 0;
      const flags = `-s -w -X ${module.versionVariable}=v${spec.version}`;
      const build = await runHelper(go, ['build', '-v', '-trimpath', '-ldflags', flags, '-o', target, module.package], {
        ...options,
        onLine: () => {
          step(`${Math.min(99, Math.floor(((compiled += 1) / packages) * 100))} %`);
        },
      });
      if (build.exitCode !== 0) throw new StackError(`go build: ${lastLine(build.output)}`);
    },
  );
  return 'built with Go';
}

async function findGo(context: RouteContext): Promise<string> {
  const { stateDir, variables } = context;
  for (const go of ['go', USUAL_GO]) {
    if (go === USUAL_GO && !existsSync(go)) continue;
    try {
      const { exitCode } = await runHelper(go, ['version'], { stateDir, variables, timeoutMs: 20_000 });
      if (exitCode === 0) return go;
    } catch (error) {
      if (messageOf(error) !== `${go}: not found`) throw error;
    }
  }
  throw new StackError('go: not found');
}
