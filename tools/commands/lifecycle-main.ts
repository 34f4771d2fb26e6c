import { lifecycleTool } from './lifecycle-arguments.ts';
import { runLifecycleCommand } from './lifecycle-commands.ts';
import { runTool } from './tool.ts';

await runTool(lifecycleTool, runLifecycleCommand);
