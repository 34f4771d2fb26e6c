import { setTimeout as sleep } from 'node:timers/promises';
import { runHelper, type HelperResult } from '../machine/helper-process.ts';
import { codeOf, StackError } from '../machine/stack-error.ts';
import { compareVersions, type BinarySpec } from './binary-spec.ts';

/** Runs a binary to check that it works on this machine. Resolves with the version it prints. Throws a StackError when it does not run. */
export async function checkBinary(path: string, spec: BinarySpec, stateDir: string): Promise<string> {
  const { exitCode, output } = await run(path, spec.versionArguments, stateDir);
  if (exitCode !== 0)
    throw new StackError(`${path} does not run here (exit code ${exitCode}): ${output.slice(0, 200)}`);
  if (spec.versionPattern === 'none') return spec.version;
  return spec.versionPattern.exec(output)?.[1] ?? 'unknown';
}

async function run(path: string, args: string[], stateDir: string): Promise<HelperResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runHelper(path, args, { stateDir, variables: { PATH: '/usr/bin:/bin' }, timeoutMs: 20_000 });
    } catch (error) {
      // A file that was just written is busy (ETXTBSY) while a process forked meanwhile still has it open.
      if (codeOf(error) !== 'ETXTBSY' || attempt === 20) throw error;
      await sleep(50);
    }
  }
}

/** Why a version is not accepted; undefined when it is. */
export function rejectVersion(
  version: string,
  { from, below }: NonNullable<BinarySpec['accepted']>,
): string | undefined {
  const isAccepted =
    version !== 'unknown' && compareVersions(version, from) >= 0 && compareVersions(version, below) < 0;
  return isAccepted ? undefined : `version ${version}, accepted are ${from} and later, below ${below}`;
}
