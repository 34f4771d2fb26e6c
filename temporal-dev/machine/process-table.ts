import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Identifies one process, also after its pid has been reused: `startTime` is the start time in clock ticks since boot, and
 * `boot` is the boot id of the kernel.
 */
export interface ProcessIdentity {
  pid: number;
  startTime: string;
  boot: string;
}

/** The identity of a running process; undefined when there is none, or only a zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command in parentheses may contain spaces and parentheses, so fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTime = fields[19];
  if (state === 'Z' || state === 'X' || startTime === undefined) return undefined;
  return { pid, startTime, boot: bootIdentity() };
}

/** This process. */
export function identifySelf(): ProcessIdentity {
  const self = identify(process.pid);
  if (self === undefined) throw new Error('/proc is not readable: this needs Linux with /proc mounted');
  return self;
}

/** True when both identify the same process. */
export function isSameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.pid === other.pid && one.startTime === other.startTime && one.boot === other.boot;
}

/** True while the process runs. Another process with the same pid does not match. */
export function isAlive(identity: ProcessIdentity): boolean {
  const current = identify(identity.pid);
  return current !== undefined && isSameProcess(current, identity);
}

/** The name of the program that a process runs, truncated by the kernel. */
function commandName(pid: number): string | undefined {
  return read(`/proc/${pid}/comm`)?.trim();
}

/** The name and pid of a process for messages, for example `nginx (pid 812)`. */
export function describeProcess(pid: number): string {
  const name = commandName(pid);
  if (name === undefined) return `pid ${pid}`;
  // Node shows the name of its main thread; the name of the script is more useful.
  const script = name === 'MainThread' || name === 'node' ? read(`/proc/${pid}/cmdline`)?.split('\0')[1] : undefined;
  return `${script ? `node ${basename(script)}` : name} (pid ${pid})`;
}

/** Resident memory of a process in bytes, with proportional shared pages (PSS) where available; 0 when it cannot be read. */
export function memoryBytes(pid: number): number {
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  const proportional = rollup === undefined ? undefined : /^Pss:\s+(\d+) kB/m.exec(rollup)?.[1];
  const resident = proportional ?? /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return Number(resident ?? 0) * 1024;
}

/** All running processes for which `matches` is true. */
export function findProcesses(matches: (pid: number) => boolean): ProcessIdentity[] {
  return processNumbers()
    .filter((pid) => pid !== process.pid && matches(pid))
    .map((pid) => identify(pid))
    .filter((identity) => identity !== undefined);
}

/** Processes that run one of the `commands` with this working directory. */
export function findProcessesIn(directory: string, commands: readonly string[]): ProcessIdentity[] {
  return findProcesses((pid) => workingDirectory(pid) === directory && commands.includes(commandName(pid) ?? ''));
}

/** The working directory of a process, if it is readable. A deleted directory is given by its former path. */
export function workingDirectory(pid: number): string | undefined {
  return link(`/proc/${pid}/cwd`)?.replace(/ \(deleted\)$/, '');
}

/** True when the process was started with this variable in its environment. False when its environment is not readable. */
export function hasEnvironment(pid: number, name: string, value: string): boolean {
  const environment = read(`/proc/${pid}/environ`);
  return environment !== undefined && environment.split('\0').includes(`${name}=${value}`);
}

/** The pid of the process that listens on a TCP port; undefined when there is none or it belongs to another user. */
export function listenerOf(port: number): number | undefined {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeningInodes(table, port)));
  if (inodes.size === 0) return undefined;
  return processNumbers().find((pid) =>
    names(`/proc/${pid}/fd`).some((descriptor) => {
      const inode = /^socket:\[(\d+)\]$/.exec(link(`/proc/${pid}/fd/${descriptor}`) ?? '')?.[1];
      return inode !== undefined && inodes.has(inode);
    }),
  );
}

function listeningInodes(table: string, port: number): string[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  return (read(table) ?? '')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(`:${hexPort}`) === true && fields[3] === TCP_LISTEN)
    .map((fields) => fields[9] ?? '');
}

const TCP_LISTEN = '0A';

let knownBoot: string | undefined;

function bootIdentity(): string {
  knownBoot ??= read('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown';
  return knownBoot;
}

function processNumbers(): number[] {
  return names('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid));
}

// Processes may end while they are read, and those of other users are not readable: neither is an error here.
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function names(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
