import { failingWorkLines } from './failing-work-lines.ts';
import { inRuntime, printedHelp } from './tool.ts';
import { verifyInstallation } from './verify.ts';

const progressEveryMs = 2_000;

const usage = `usage: npm run verify -- [--quiet]
  compares rows, history, events, deliveries, tuples, workflows and stored files; ends with 1 if they disagree
  --quiet                           compares also what has changed in the last minute: nothing may be under way`;

const args = process.argv.slice(2);
if (!printedHelp(args, usage))
  await inRuntime({ name: 'verify', needs: 'Database, Temporal and authorization store' }, args, async (runtime) => {
    let reported = Date.now();
    const lines = await verifyInstallation(runtime, {
      isQuiet: args.includes('--quiet'),
      onProgress: (name, count) => {
        if (Date.now() - reported < progressEveryMs) return;
        reported = Date.now();
        console.error(`${name}: ${count} read`);
      },
    });
    for (const line of lines) console.log(line);
    console.log(
      lines.length === 0
        ? 'Rows, history, events, deliveries, tuples, workflows and stored files agree.'
        : `${lines.length} disagreements.`,
    );
    const failing = await failingWorkLines(runtime);
    for (const line of failing.lines) console.log(line);
    if (!failing.isWell)
      console.log('Work fails: "npm run work -- list" shows all of it, and how it is retried or stopped.');
    return lines.length === 0 && failing.isWell;
  });
