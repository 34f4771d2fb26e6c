import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Variables } from './stack-environment.ts';
import { codeOf, StackError } from './stack-error.ts';

/**
 * Environment variable that is set to the state folder for every process that the stack starts. It identifies processes
 * that a killed start had no time to record. A process with this variable may be killed, because nothing else sets it.
 */
export const MEMBER_VARIABLE = 'LOCAL_STACK_MEMBER_OF';

interface HelperOptions {
  stateDir: string;
  variables: Variables;
  cwd?: string;
  uid?: number | undefined;
  gid?: number | undefined;
  timeoutMs?: number;
  /** Ends the helper with SIGINT, on which it cleans up. */
  signal?: AbortSignal | undefined;
  /** Called with each line of output. */
  onLine?: (line: string) => void;
}

export interface HelperResult {
  /** null when the helper was ended by a signal. */
  exitCode: number | null;
  /** The last lines of standard output and standard error. */
  output: string;
}

const KEPT_LINES = 40;

/**
 * Runs a command to its end. Throws a StackError when it cannot be started or takes longer than `timeoutMs`. An exit code
 * other than 0 is returned, not thrown.
 */
export async function runHelper(command: string, args: string[], options: HelperOptions): Promise<HelperResult> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    uid: options.uid,
    gid: options.gid,
    env: { ...options.variables, [MEMBER_VARIABLE]: options.stateDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: options.signal,
    killSignal: 'SIGINT',
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
      options.onLine?.(line);
    });
  }
  let hasTimedOut = false;
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          hasTimedOut = true;
          child.kill('SIGKILL');
        }, options.timeoutMs);
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (hasTimedOut) throw new StackError(`${command} did not end within ${(options.timeoutMs ?? 0) / 1000} s`);
    return { exitCode, output: lines.join('\n') };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new StackError(`${command}: not found`, { cause: error });
    if (codeOf(error) === 'EACCES') throw new StackError(`${command}: not executable`, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The last line of a helper's output, for an error message of one line. */
export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() || 'no output';
}
