import { readFileSync, writeFileSync } from 'node:fs';

/** Ticks of the kernel's clock a second; the same on every Linux that Node runs on (proc(5), `stat`). */
const ticksPerSecond = 100;

/** CPU time that a process has used, in all its threads, in seconds. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before may have spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Resident memory of a process in mebibytes: now, and the most since `forgetPeak`. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024;
  return { now: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
}

/** Lets the peak begin anew with the memory of now (proc(5), `clear_refs`). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
