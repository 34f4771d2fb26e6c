import { backfillsTool, runBackfillsCommand } from './backfill-commands.ts';
import { runTool } from './tool.ts';

await runTool(backfillsTool, runBackfillsCommand);
