import { readTemporalUi } from '#config/reading/standard-variables.ts';
import { ArgumentError } from './event-arguments.ts';
import { runTool } from './open-tool.ts';
import { readWorkCommand, workUsage, type WorkCommand } from './work-arguments.ts';
import { runWorkCommand } from './work-commands.ts';

/** Undefined for arguments that are no command. */
function commandOf(args: readonly string[]): WorkCommand | undefined {
  try {
    return readWorkCommand(args);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    console.error(`${error.message}\n\n${workUsage}`);
    return undefined;
  }
}

const args = process.argv.slice(2);
const command = commandOf(args);
if (!command) process.exit(2);
await runTool('work', args, 'Database and Temporal', async (runtime) => {
  await runWorkCommand(command, { runtime, temporalUi: readTemporalUi(), print: (line) => console.log(line) });
  return true;
});
