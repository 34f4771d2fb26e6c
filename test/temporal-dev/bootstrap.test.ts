// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openfgaBinary } from '#temporal-dev/binaries/openfga-binary.ts';
import { temporaryDirectory } from './stack-fixture.ts';

const BOOTSTRAP = fileURLToPath(new URL('../../bootstrap.mjs', import.meta.url));
const platform = `${process.platform}-${process.arch}`;

interface Outcome {
  exitCode: number | null;
  output: string;
}

/** Installs the Node of this platform. */
const INSTALL = `
    mkdir -p "$PWD/node_modules/node-${platform}/bin"
    ln -s "${process.execPath}" "$PWD/node_modules/node-${platform}/bin/node"
    echo '{}' > "$PWD/node_modules/node-${platform}/package.json"
    echo '{"packages":{"node_modules/node-${platform}":{"version":"24.0.0"}}}' > "$PWD/node_modules/.package-lock.json"`;

/** A project with one dependency, the Node of this platform, whose `npm` is a script that says what it was asked. */
function project(options: { npm?: string; npmVersion?: string } = {}): string {
  const directory = temporaryDirectory();
  const node = `node-${platform}`;
  cpSync(BOOTSTRAP, join(directory, 'bootstrap.mjs'));
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ optionalDependencies: { [node]: '24.0.0' } }));
  const lock = {
    packages: {
      '': { optionalDependencies: { [node]: '24.0.0' } },
      [`node_modules/${node}`]: { version: '24.0.0', optional: true },
      'node_modules/node-other-platform': { version: '24.0.0', optional: true },
    },
  };
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(lock));
  mkdirSync(join(directory, 'bin'));
  writeFileSync(
    join(directory, 'bin', 'npm'),
    `#!/bin/sh\nif [ "$1" = --version ]; then echo ${options.npmVersion ?? '10.9.4'}; exit; fi\necho "npm $@"\n${options.npm ?? INSTALL}\n`,
    {
      mode: 0o755,
    },
  );
  return directory;
}

function start(
  directory: string,
  args: string[],
  nodeOptions: string[] = [],
  environment: Record<string, string> = {},
): ChildProcess {
  return spawn(process.execPath, [...nodeOptions, join(directory, 'bootstrap.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { PATH: `${join(directory, 'bin')}:/usr/bin:/bin`, ...environment },
  });
}

async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const [exitCode]: (number | null)[] = await once(child, 'close');
  return { exitCode: exitCode ?? null, output };
}

const run = (directory: string, args: string[], nodeOptions?: string[]): Promise<Outcome> =>
  outcomeOf(start(directory, args, nodeOptions));

const PRINT = ['-e', 'console.log(process.argv.slice(1).join("|"))', '--', 'one', 'two words'];

test('bootstrap.mjs installs what is missing, then runs the program with its arguments; the second time it only runs it', async () => {
  const directory = project();
  const first = await run(directory, PRINT);
  expect(first.output).toContain('npm ci --no-audit --no-fund --loglevel=error');
  expect(first.output).toMatch(/one\|two words\n$/);
  expect(await run(directory, PRINT)).toEqual({ exitCode: 0, output: 'one|two words\n' });
});

test('the program is told when the bootstrap was started, before the installation', async () => {
  const directory = project({ npm: `/bin/date +%s%3N > installed-at; ${INSTALL}` });
  const { output } = await run(directory, ['-e', 'console.log(process.env.STACK_STARTED_AT)']);
  const startedAt = Number(output.trim().split('\n').at(-1));
  expect(startedAt).toBeGreaterThan(0);
  expect(startedAt).toBeLessThanOrEqual(Number(readFileSync(join(directory, 'installed-at'), 'utf8')));
});

test.each([
  [
    'a package was removed',
    (directory: string) => rmSync(join(directory, `node_modules/node-${platform}/package.json`)),
  ],
  ['an installation was cut short', (directory: string) => rmSync(join(directory, 'node_modules/.package-lock.json'))],
  [
    'the lockfile asks for another version',
    (directory: string) => {
      const lock = join(directory, 'package-lock.json');
      writeFileSync(lock, readFileSync(lock, 'utf8').replace('"version":"24.0.0"', '"version":"24.0.1"'));
    },
  ],
  [
    'package.json asks for more than the lockfile',
    (directory: string) => writeFileSync(join(directory, 'package.json'), '{"dependencies":{"x":"1"}}'),
  ],
])('bootstrap.mjs installs again when %s', async (_what, change) => {
  const directory = project();
  await run(directory, PRINT);
  change(directory);
  expect((await run(directory, PRINT)).output).toContain('npm ci');
});

test('of two starts at the same time one installs and the other waits for it', async () => {
  const directory = project();
  const npm = join(directory, 'bin', 'npm');
  writeFileSync(npm, readFileSync(npm, 'utf8').replace('\n', '\nsleep 0.7\n'), { mode: 0o755 });
  const outcomes = await Promise.all([run(directory, PRINT), run(directory, PRINT)]);
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(outcomes.filter(({ output }) => output.includes('npm ci --no-audit'))).toHaveLength(1);
  expect(outcomes.filter(({ output }) => output.includes('which installs the dependencies'))).toHaveLength(1);
});

test('the lock of a killed installation is taken over', async () => {
  const directory = project();
  mkdirSync(join(directory, '.local'));
  const { pid = 0 } = await ended(spawn('true'));
  symlinkSync(String(pid), join(directory, '.local', 'install.lock'));
  expect((await run(directory, PRINT)).exitCode).toBe(0);
});

async function ended(child: ChildProcess): Promise<ChildProcess> {
  await once(child, 'exit');
  return child;
}

test('a failed installation ends it with one line more than npm says', async () => {
  const directory = project({ npm: 'echo "npm error code E404" >&2; exit 3' });
  const { exitCode, output } = await run(directory, PRINT);
  expect(exitCode).toBe(1);
  expect(output).toMatch(/npm error code E404\nnpm ci failed \(exit code 3\): fix the error above and start again\n$/);
});

test.each([0, 7])('bootstrap.mjs ends with exit code %i of the program', async (code) => {
  const directory = project();
  expect((await run(directory, ['-e', `process.exit(${code})`])).exitCode).toBe(code);
});

test('bootstrap.mjs ends as a shell does when the program was killed', async () => {
  const directory = project();
  expect((await run(directory, ['-e', 'process.kill(process.pid, "SIGKILL")'])).exitCode).toBe(128 + 9);
});

const COUNT_SIGNALS = `let count = 0;
process.on('SIGINT', () => { if ((count += 1) === 1) setTimeout(() => { console.log('signals', count); process.exit(4); }, 300); });
console.log('running');
setInterval(() => {}, 1000);`;

test.each([
  ['to the whole group, as a terminal does', (pid: number) => process.kill(-pid, 'SIGINT')],
  ['to the bootstrap alone', (pid: number) => process.kill(pid, 'SIGINT')],
  [
    'twice in quick succession, as npm repeats it',
    (pid: number) => {
      process.kill(-pid, 'SIGINT');
      setTimeout(() => process.kill(pid, 'SIGINT'), 50);
    },
  ],
])('bootstrap.mjs passes an interrupt on once when it is sent %s', async (_how, interrupt) => {
  const directory = project();
  await run(directory, PRINT);
  const child = start(directory, ['-e', COUNT_SIGNALS]);
  const outcome = outcomeOf(child);
  if (child.stdout !== null) await once(child.stdout, 'data');
  interrupt(child.pid ?? 0);
  expect(await outcome).toEqual({ exitCode: 4, output: 'running\nsignals 1\n' });
});

/** Makes the process believe it is another one. */
const pretend = (statement: string): string[] => ['--import', `data:text/javascript,${encodeURIComponent(statement)}`];

test('an old Node is told what to do in one line', async () => {
  const old = pretend(
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '16.20.2' } })`,
  );
  expect(await run(project(), PRINT, old)).toEqual({
    exitCode: 1,
    output: 'Node 16.20.2 is too old: install Node 18 or later, for example from nodejs.org\n',
  });
});

test('a platform without binaries is told what to do in one line', async () => {
  const other = pretend(`Object.defineProperty(process, 'platform', { value: 'darwin' })`);
  const { exitCode, output } = await run(project(), PRINT, other);
  expect(exitCode).toBe(1);
  expect(output).toMatch(/^this runs on linux-x64 and linux-arm64, not on darwin-\w+: .*STACK_NODE_BIN.*\n$/);
});

test('an npm that is too old is told what to do in one line, before anything is installed', async () => {
  const { exitCode, output } = await run(project({ npmVersion: '9.8.1' }), PRINT);
  expect(exitCode).toBe(1);
  expect(output).toBe('npm 9.8.1 is too old: install npm 10 or later, for example with Node from nodejs.org\n');
});

/** Hides the Go of this machine, which is looked for beside PATH. */
const WITHOUT_GO = pretend(`import processes from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
const { spawnSync } = processes;
processes.spawnSync = (command, ...rest) =>
  command === '/usr/local/go/bin/go' ? { status: null } : spawnSync(command, ...rest);
syncBuiltinESMExports();`);

test('a machine that cannot fetch the servers is told what to do in one line, before anything is installed', async () => {
  const directory = project();
  const bare = { PATH: join(directory, 'bin'), STACK_CACHE_DIR: join(directory, 'cache') };
  const outcome = (program: string, environment: Record<string, string> = bare) =>
    outcomeOf(start(directory, [program], WITHOUT_GO, environment));
  expect(await outcome('temporal-dev/start-main.ts')).toEqual({
    exitCode: 1,
    output:
      'OpenFGA cannot be fetched: this needs Python 3 with pip, or Go 1.25.7 or later; ' +
      'to fix it, run: sudo apt-get install -y python3-pip\n',
  });
  expect(openfgaBinary.goModule?.oldestGo).toBe('1.25.7');
  // A cached or named server needs no fetching, and not every program starts servers.
  mkdirSync(join(directory, 'cache', 'openfga-1.18.1-linux-x64'), { recursive: true });
  const npm = join(directory, 'bin', 'npm');
  writeFileSync(npm, '#!/bin/sh\nif [ "$1" = --version ]; then echo 11.0.0; exit; fi\nexit 3\n', { mode: 0o755 });
  const isInstalling = expect.objectContaining({ output: expect.stringContaining('npm ci failed (exit code 3)') });
  expect(await outcome('temporal-dev/start-main.ts')).toEqual(isInstalling);
  expect(await outcome('api/api-main.ts', { ...bare, STACK_CACHE_DIR: '/nowhere' })).toEqual(isInstalling);
  expect(
    await outcome('test/run-main.ts', {
      ...bare,
      STACK_CACHE_DIR: '/nowhere',
      STACK_OPENFGA_BIN: '/bin/openfga',
    }),
  ).toEqual(isInstalling);
});
