import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PART_NAMES, type OptionalPart, type PartName } from './machine/stack-environment.ts';
import { printLog } from './stack/print-log.ts';
import { terminalReport, type Report } from './machine/progress-report.ts';
import { resetStack } from './stack/reset-stack.ts';
import { StackError } from './machine/stack-error.ts';
import { startStack, stopStack } from './stack/start-stack.ts';
import { logFile, realStateDirectory } from './servers/stack-state.ts';
import { stackStatus, statusTable } from './stack/stack-status.ts';

const USAGE = `usage: npm run stack -- COMMAND
  start [--redis] [--s3] [--gcs] [--without NAME]…
                                      start the servers in the background: ${PART_NAMES.join(', ')}
  stop                                stop the servers; their data are kept
  status [--json]                     print state, address, version and memory of each server
  reset                               stop the servers and delete their data and logs
  logs NAME [-f]                      print the log of a server, of api or of worker; -f follows it`;

/** The state folder, which git ignores. Another folder allows a second stack in the same clone. */
const STATE_DIR = process.env['STACK_STATE_DIR'] ?? fileURLToPath(new URL('../.local', import.meta.url));

async function main(): Promise<void> {
  const { positionals, values } = parseCommandLine();
  const [command, name] = positionals;
  const report = terminalReport(process.stderr, 'stack: ');
  const stateDir = realStateDirectory(STATE_DIR);
  switch (command) {
    case 'start': {
      const without = values.without.map(parseOptionalPart);
      await startStack({
        ...interruptible(),
        stateDir,
        profile: 'development',
        redis: values.redis,
        s3: values.s3,
        gcs: values.gcs,
        without,
        report,
        detached: true,
      });
      process.stdout.write(`${statusTable(await stackStatus(stateDir))}\n`);
      return;
    }
    case 'stop':
      report(stoppedLine(await stopStack(stateDir, report)));
      return;
    case 'status': {
      const status = await stackStatus(stateDir);
      process.stdout.write(`${values.json ? JSON.stringify(status, undefined, 2) : statusTable(status)}\n`);
      return;
    }
    case 'reset':
      await resetStack(stateDir, report);
      return;
    case 'logs':
      await printLog(logFile(stateDir, parseLogName(name)), process.stdout, { isFollowing: values.follow });
      return;
    case undefined:
    default:
      throw new StackError(`${command === undefined ? 'no command' : `unknown command ${command}`}\n${USAGE}`);
  }
}

function parseCommandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        redis: { type: 'boolean', default: false },
        s3: { type: 'boolean', default: false },
        gcs: { type: 'boolean', default: false },
        without: { type: 'string', multiple: true, default: [] },
        json: { type: 'boolean', default: false },
        follow: { type: 'boolean', short: 'f', default: false },
      },
    });
  } catch (error) {
    throw new StackError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error });
  }
}

/** The first Ctrl-C aborts the start in order; the second one ends the process at once. */
function interruptible(): { signal: AbortSignal } {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort();
    });
  }
  return { signal: controller.signal };
}

function stoppedLine(names: PartName[]): string {
  return names.length === 0 ? 'no server was running' : `stopped ${names.join(', ')}`;
}

function parsePart(name: string | undefined): PartName {
  const part = PART_NAMES.find((one) => one === name);
  if (part !== undefined) return part;
  throw new StackError(
    `${name === undefined ? 'no name' : `unknown name ${name}`}: use one of ${PART_NAMES.join(', ')}`,
  );
}

function parseLogName(name: string | undefined): string {
  return name === 'api' || name === 'worker' ? name : parsePart(name);
}

function parseOptionalPart(name: string): Exclude<PartName, OptionalPart> {
  const part = parsePart(name);
  if (part !== 'redis' && part !== 's3' && part !== 'gcs') return part;
  throw new StackError(`${part} is only started with --${part}: remove that option instead`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  const report: Report = terminalReport(process.stderr, 'stack: ');
  report(error.message);
  process.exitCode = 1;
}
