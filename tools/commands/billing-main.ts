import { billingTool } from './billing-arguments.ts';
import { runBillingCommand } from './billing-commands.ts';
import { runTool } from './tool.ts';

await runTool(billingTool, runBillingCommand);
