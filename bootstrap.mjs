// Runs a program of this project with the pinned Node, after installing missing dependencies. It is started with the Node of
// the machine, so it uses no packages and only the syntax of Node 14: an old Node must be able to print the error message.
//   node bootstrap.mjs PROGRAM [ARGUMENTS…]
import { spawn, spawnSync } from 'child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'fs';
import { constants, homedir } from 'os';
import { delimiter, dirname, join } from 'path';
import { fileURLToPath } from 'url';

/** Passed to the program, which counts from here. */
const startedAt = Date.now();

const root = dirname(fileURLToPath(import.meta.url));
const modules = join(root, 'node_modules');
const platform = `${process.platform}-${process.arch}`;

/** Programs that start the local servers. */
const serverPrograms = new Set([
  'temporal-dev/start-main.ts',
  'temporal-dev/stack-main.ts',
  'test/run-main.ts',
  'node_modules/vitest/vitest.mjs',
  'test/bench/main.ts',
]);

/** One Ctrl-C may arrive twice, from the terminal and from npm. A signal within this time after the first is ignored, ms. */
const SAME_SIGNAL_MS = 500;

/** Interval of progress messages during an installation, ms. */
const PROGRESS_INTERVAL_MS = 10000;

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});

async function main() {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 18)
    throw new Error(`Node ${process.versions.node} is too old: install Node 18 or later, for example from nodejs.org`);
  const ownNode = process.env.STACK_NODE_BIN;
  if (!ownNode && platform !== 'linux-x64' && platform !== 'linux-arm64') {
    throw new Error(
      `this runs on linux-x64 and linux-arm64, not on ${platform}: use a Linux machine, a container or WSL, ` +
        'or set STACK_NODE_BIN to your own Node 24 and configure the addresses of your own servers',
    );
  }
  if (process.argv.length < 3) throw new Error('usage: node bootstrap.mjs PROGRAM [ARGUMENTS…]');
  if (!isInstalled()) {
    requirePrograms(process.argv.slice(2));
    await install();
  }
  await run(ownNode || join(modules, `node-${platform}`, 'bin', 'node'), process.argv.slice(2));
}

/**
 * True when node_modules contains the packages of package-lock.json. npm writes the list of installed packages at the end, so
 * the list is missing after an interrupted installation. Packages that were deleted later are noticed as well.
 */
function isInstalled() {
  const wanted = readJson(join(root, 'package-lock.json'));
  const installed = readJson(join(modules, '.package-lock.json'));
  const manifest = readJson(join(root, 'package.json'));
  if (!wanted || !installed || !manifest) return false;
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    if (!isSame(wanted.packages[''][kind], manifest[kind])) return false;
  }
  return Object.keys(wanted.packages).every((path) => {
    const { version, optional } = wanted.packages[path];
    const found = installed.packages[path];
    if (path === '') return true;
    // Optional packages of other platforms are not installed.
    if (!found) return optional === true && !path.endsWith(`/node-${platform}`);
    return found.version === version && existsSync(join(root, path, 'package.json'));
  });
}

/** Throws when this machine lacks a program that the installation or the fetching of the servers needs. Downloads nothing. */
function requirePrograms(args) {
  const { glibcVersionRuntime } = process.report ? process.report.getReport().header : {};
  if (process.platform === 'linux' && process.report && !glibcVersionRuntime)
    throw new Error('this Linux has no glibc, which the servers need: use a distribution with glibc, such as Debian');
  const [npm, prefix] = npmCommand();
  const { stdout, error } = spawnSync(npm, prefix.concat('--version'), { encoding: 'utf8' });
  if (error) throw new Error(`cannot run npm (${error.message}): install npm 10 or later, for example with Node`);
  if (!(parseInt(stdout, 10) >= 10))
    throw new Error(`npm ${stdout.trim()} is too old: install npm 10 or later, for example with Node from nodejs.org`);
  if (serverPrograms.has(args[0]) && !hasServer(args) && !canFetchServer()) {
    throw new Error(
      'OpenFGA cannot be fetched: this needs Python 3 with pip, or Go 1.25.7 or later; ' +
        'to fix it, run: sudo apt-get install -y python3-pip',
    );
  }
}

/** True when OpenFGA is installed or cached, or may be configured to run elsewhere. The program itself then checks precisely. */
function hasServer(args) {
  const { STACK_OPENFGA_BIN, CORE_AUTHZ_HOSTURL, STACK_CACHE_DIR, XDG_CACHE_HOME, PATH = '' } = process.env;
  if (STACK_OPENFGA_BIN || CORE_AUTHZ_HOSTURL || args.includes('--config')) return true;
  if (existsSync(join(root, 'config', 'config.yaml'))) return true;
  if (PATH.split(delimiter).some((directory) => directory && existsSync(join(directory, 'openfga')))) return true;
  const usual = [join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'core-server'), '/var/cache/core-server'];
  const caches = STACK_CACHE_DIR ? [STACK_CACHE_DIR] : usual.concat(join(root, '.local', 'cache'));
  return caches.some(
    (cache) => existsSync(cache) && readdirSync(cache).some((name) => /^openfga-.*-linux-/.test(name)),
  );
}

function canFetchServer() {
  const commands = [
    ['go', 'version'],
    ['/usr/local/go/bin/go', 'version'],
    ['python3', '-m', 'pip', '--version'],
    ['pip3', '--version'],
    ['pip', '--version'],
  ];
  return commands.some(([command, ...args]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0);
}

function isSame(one = {}, other = {}) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Installs the dependencies from the lockfile. When several processes start at the same time, one installs and the others wait. */
async function install() {
  const lock = join(root, '.local', 'install.lock');
  if (!(await takeLock(lock))) return;
  try {
    // Deleted first, so that an interrupted installation does not look complete.
    rmSync(join(modules, '.package-lock.json'), { force: true });
    const started = Date.now();
    process.stderr.write('installing dependencies (npm ci)\n');
    const timer = setInterval(() => {
      process.stderr.write(`installing dependencies: ${Math.round((Date.now() - started) / 1000)} s\n`);
    }, PROGRESS_INTERVAL_MS);
    const code = await npmCi().finally(() => clearInterval(timer));
    if (code !== 0) throw new Error(`npm ci failed (exit code ${code}): fix the error above and start again`);
    if (!isInstalled()) throw new Error('npm ci did not install all packages: run `npm ci` to see which');
    process.stderr.write(`dependencies installed in ${Math.round((Date.now() - started) / 1000)} s\n`);
  } finally {
    rmSync(lock, { force: true });
  }
}

function npmCi() {
  const [command, prefix] = npmCommand();
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn(command, prefix.concat(args), { cwd: root, stdio: ['ignore', 2, 2] });
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`cannot run npm (${error.message}): install it with Node`)));
    child.once('exit', (code, signal) => resolve(code === null ? signal : code));
  });
}

/** The command of npm, and its first arguments. */
function npmCommand() {
  // When started by npm, this is the path of npm itself.
  const npm = process.env.npm_execpath;
  return npm && npm.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
}

/** True when this process holds the lock; false when another process has installed the dependencies meanwhile. */
async function takeLock(path) {
  let hasReported = false;
  let isTakenOver = false;
  for (;;) {
    try {
      mkdirSync(dirname(path), { recursive: true });
      // A symbolic link is created atomically with its content; its target need not exist.
      symlinkSync(String(process.pid), path);
    } catch (error) {
      if (error.code !== 'EEXIST')
        throw new Error(`cannot write to ${dirname(path)} (${error.message})`, { cause: error });
    }
    // Another process may have found the same dead holder and deleted our lock instead of the holder's.
    if (isTakenOver) await pause(300);
    const holder = Number(readLink(path));
    if (holder === process.pid) return true;
    isTakenOver = holder > 0 && !isRunning(holder);
    if (isTakenOver) {
      rmSync(path, { force: true });
      continue;
    }
    if (!hasReported) process.stderr.write(`waiting for process ${holder}, which installs the dependencies\n`);
    hasReported = true;
    await pause(200);
    if (isInstalled()) return false;
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function readLink(path) {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Environment of a program with which it gives back memory that it no longer uses (docs/decisions/memory-of-processes.md). Variables
 * that are set already keep their values.
 */
function memorySettings(args) {
  // Tests and checks need much memory, and end soon.
  const isTool = args.some((argument) => argument.includes('vitest') || argument === 'test/check.ts');
  return Object.assign(
    {
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '1048576',
      MALLOC_TRIM_THRESHOLD_: '1048576',
      // Large pages where they are to be had: each password hash asks for 19 MiB anew, and small pages cost a quarter of its time.
      GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
    },
    isTool ? {} : { NODE_OPTIONS: '--max-semi-space-size=16 --max-old-space-size=768' },
  );
}

/**
 * Runs the program and ends with its exit code. The program has its own session, so that a Ctrl-C reaches it only once,
 * through this process, and not also from the terminal and from npm.
 */
async function run(node, args) {
  const path = `${join(modules, '.bin')}${delimiter}${process.env.PATH || ''}`;
  // Programs that were started before start in two thirds of the processor time.
  const cache = { NODE_COMPILE_CACHE: join(root, '.local', 'compile-cache') };
  const env = Object.assign(cache, memorySettings(args), process.env, {
    PATH: path,
    STACK_STARTED_AT: String(startedAt),
  });
  const child = spawn(node, args, { cwd: root, stdio: 'inherit', detached: true, env });
  const lastSent = {};
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGWINCH']) {
    process.on(signal, () => {
      const now = Date.now();
      if (now - (lastSent[signal] || 0) < SAME_SIGNAL_MS) return;
      lastSent[signal] = now;
      child.kill(signal);
    });
  }
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('exit', (...how) => resolve(how));
    child.once('error', (error) =>
      reject(new Error(`cannot run ${node} (${error.message}): it requires a Linux with glibc`)),
    );
  });
  // The exit code that a shell would report. Sending the signal to this process would race with its end.
  process.exitCode = code === null ? 128 + (constants.signals[signal] || 0) : code;
}
