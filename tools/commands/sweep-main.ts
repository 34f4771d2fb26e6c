import { runSweepCommand, sweepTool } from './sweep-commands.ts';
import { runTool } from './tool.ts';

await runTool(sweepTool, runSweepCommand);
