import { eventsTool } from './event-arguments.ts';
import { runEventCommand } from './event-commands.ts';
import { runTool } from './tool.ts';

await runTool(eventsTool, runEventCommand);
