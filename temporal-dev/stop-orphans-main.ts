import { isSameProcess, type ProcessIdentity } from './machine/process-table.ts';
import { readState } from './servers/stack-state.ts';
import { stopParts, stopUnrecorded, withStackLock } from './stack/run-server.ts';

/** Run by the watchdog when the owner of servers has ended: stops the servers it owned, including unrecorded ones. */
const [stateDir, pid, startTime, boot] = process.argv.slice(2);
if (stateDir === undefined || startTime === undefined || boot === undefined) {
  throw new Error('usage: stop-orphans-main.ts STATE_DIR PID START_TIME BOOT');
}
const owner: ProcessIdentity = { pid: Number(pid), startTime, boot };

const options = { purpose: 'stopping the servers of a process that ended', report: () => {} };
await withStackLock(stateDir, options, async () => {
  const state = readState(stateDir);
  await stopParts(stateDir, state, (record) => record.owner !== null && isSameProcess(record.owner, owner));
  await stopUnrecorded(stateDir, state);
});
