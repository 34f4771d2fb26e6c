import { readTemporalUi } from '#config/reading/standard-variables.ts';
import { runTool } from './tool.ts';
import { workTool } from './work-arguments.ts';
import { runWorkCommand } from './work-commands.ts';

await runTool(workTool, (command, context) => runWorkCommand(command, { ...context, temporalUi: readTemporalUi() }));
