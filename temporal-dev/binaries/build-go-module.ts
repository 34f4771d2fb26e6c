import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastLine, runHelper } from '../machine/helper-process.ts';
import { withProgress } from '../machine/progress-report.ts';
import { StackError } from '../machine/stack-error.ts';
import type { RouteContext } from './binary-route.ts';
import { openGo } from './go-toolchain.ts';

/** Below it are the folders of go.mod and go.sum, which pin the modules and their dependencies. */
const MODULE_DIRECTORY = fileURLToPath(new URL('..', import.meta.url));

/** The linker flag `-w` discards the debugging information, so the compiler need not make it. */
const WITHOUT_DEBUGGING = '-gcflags=all=-dwarf=false';

/**
 * Builds the binary from the pinned module with the Go of the machine, or with the pinned one. Go's caches are used, so the next
 * attempt continues an interrupted build. The pinned Go and its caches are deleted after the build.
 */
export async function buildGoModule(context: RouteContext): Promise<string> {
  const { spec, target, report, stateDir, signal } = context;
  const module = spec.goModule;
  if (module === undefined) throw new StackError('no Go module is pinned');
  const work = join(dirname(dirname(target)), `${spec.name}-${spec.version}-build`);
  const go = await openGo(module, work, context);
  const options = {
    stateDir,
    signal,
    cwd: join(MODULE_DIRECTORY, module.directory ?? ''),
    variables: {
      // The compiler, a process for each package, spends a fifth of its time on garbage that its end frees anyway.
      GOGC: 'off',
      GOMEMLIMIT: '1GiB',
      ...go.variables,
      // By default, the files of the module cache cannot be deleted.
      GOFLAGS: `-mod=readonly${go.isTemporary ? ' -modcacherw' : ''}`,
      GOWORK: 'off',
      GOTOOLCHAIN: 'local',
      // Like the release. No C compiler is needed.
      CGO_ENABLED: '0',
      // Temporary files of a killed build are deleted together with the folder of the unfinished binary.
      GOTMPDIR: dirname(target),
      // Without a terminal, git would wait forever for a password.
      GIT_TERMINAL_PROMPT: '0',
    },
  };
  await withProgress(
    report,
    `${spec.title} ${spec.version}: building from source with ${go.origin} (takes some minutes)`,
    async (step) => {
      let packages = 0;
      let downloaded = 0;
      const list = await runHelper(go.command, ['list', '-deps', '-f', '{{.ImportPath}}', module.package], {
        ...options,
        onLine: (line) => {
          if (!line.startsWith('go: downloading')) packages += 1;
          else step(`${(downloaded += 1)} modules downloaded`);
        },
      });
      if (list.exitCode !== 0) throw new StackError(`go list: ${lastLine(list.output)}`);
      let compiled = 0;
      const version = module.versionVariable === undefined ? '' : ` -X ${module.versionVariable}=v${spec.version}`;
      const flags = `-s -w${version}`;
      const build = await runHelper(
        go.command,
        ['build', '-v', '-trimpath', WITHOUT_DEBUGGING, '-ldflags', flags, '-o', target, module.package],
        {
          ...options,
          onLine: () => {
            step(`${Math.min(99, Math.floor(((compiled += 1) / packages) * 100))} %`);
          },
        },
      );
      if (build.exitCode !== 0) throw new StackError(`go build: ${lastLine(build.output)}`);
    },
  );
  if (go.isTemporary) await rm(work, { recursive: true, force: true });
  return `built with ${go.origin}`;
}
