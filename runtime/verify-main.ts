import { isAppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { countFailingWork } from '#entities/kit/outbox/failing-work-list.ts';
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
  const failing = await runtime.database.transact(
    { caller: systemCaller('verify'), requestId: `verify-${newId()}`, readOnly: true },
    countFailingWork,
  );
  for (const { kind, count } of failing)
    console.log(`${count} of the kind ${kind} fail or wait: npm run work -- list --kind ${kind}`);
  console.log(
    lines.length === 0
      ? 'Rows, history, events, deliveries, tuples, workflows and stored files agree.'
      : `${lines.length} disagreements.`,
  );
  // Endpoints of customers fail for their own reasons.
  const isWell = lines.length === 0 && failing.every(({ kind }) => kind === 'message');
  process.exitCode = isWell ? 0 : 1;
} catch (error) {
  if (!isAppError(error)) throw error;
  console.error(
    `${error.message} Database, Temporal and authorization store must be running to be compared; "npm start" starts them.`,
  );
  process.exitCode = 1;
} finally {
  await runtime.close();
}
