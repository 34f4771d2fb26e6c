import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBinary, findInstalled } from '#temporal-dev/binaries/find-binary.ts';
import { messageOf } from '#temporal-dev/machine/stack-error.ts';
import { builtServers, searchContext } from '../kit/object-stores.ts';

/** Time between two lines about progress, in milliseconds. */
const progressEveryMs = 30_000;

// The servers that only tests use are built one after the other: two builds at once would leave the suite no processor.
const stateDir = join(fileURLToPath(new URL('../..', import.meta.url)), '.local', 'built-servers');
mkdirSync(stateDir, { recursive: true });
const aborted = new AbortController();
process.once('SIGTERM', () => aborted.abort(new Error('the run has ended')));
let printedAt = Date.now();
const context = {
  ...searchContext(stateDir, () => {}),
  signal: aborted.signal,
  report: (line: string, isTransient = false) => {
    if (isTransient && Date.now() - printedAt < progressEveryMs) return;
    printedAt = Date.now();
    console.log(line);
  },
};
for (const [name, spec] of Object.entries(builtServers)) {
  if (!process.argv.includes(name)) continue;
  if (await findInstalled(spec, context)) continue;
  try {
    await findBinary(spec, context);
  } catch (error) {
    if (aborted.signal.aborted) break;
    // The tests that need it try it once more and fail with this reason.
    console.log(messageOf(error));
    process.exitCode = 1;
  }
}
