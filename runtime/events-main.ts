import { isAppError } from '#entities/kit/base/errors.ts';
import { ArgumentError, eventUsage, readEventCommand } from './event-arguments.ts';
import { runEventCommand, type EventCommand } from './event-commands.ts';
import { openTool } from './open-tool.ts';

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
const runtime = await openTool('events', args);
try {
  const isDone = await runEventCommand(command, { runtime, print: (line) => console.log(line) });
  process.exitCode = isDone ? 0 : 1;
} catch (error) {
  if (!isAppError(error)) throw error;
  console.error(`${error.message} Database, Temporal and a worker must be running; "npm start" starts them.`);
  process.exitCode = 1;
} finally {
  await runtime.close();
}
