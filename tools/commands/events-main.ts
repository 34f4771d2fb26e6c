import { ArgumentError, eventUsage, readEventCommand } from './event-arguments.ts';
import { runEventCommand, type EventCommand } from './event-commands.ts';
import { runTool } from './open-tool.ts';

/** Undefined for arguments that are no command. */
function commandOf(args: readonly string[]): EventCommand | undefined {
  try {
    return readEventCommand(args);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    console.error(`${error.message}\n\n${eventUsage}`);
    return undefined;
  }
}

const args = process.argv.slice(2);
const command = commandOf(args);
if (!command) process.exit(2);
await runTool('events', args, 'Database, Temporal and a worker', (runtime) =>
  runEventCommand(command, { runtime, print: (line) => console.log(line) }),
);
