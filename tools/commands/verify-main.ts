import { isAppError } from '#entities/kit/base/errors.ts';
import { failingWorkLines } from './failing-work-lines.ts';
import { openTool } from './open-tool.ts';
import { verifyInstallation } from './verify.ts';

/** Shortest time between two lines of progress. */
const progressEveryMs = 2_000;

const args = process.argv.slice(2);
const runtime = await openTool('verify', args);
try {
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
  process.exitCode = lines.length === 0 && failing.isWell ? 0 : 1;
} catch (error) {
  if (!isAppError(error)) throw error;
  console.error(
    `${error.message} Database, Temporal and authorization store must be running to be compared; "npm start" starts them.`,
  );
  process.exitCode = 1;
} finally {
  await runtime.close();
}
