import { PART_NAMES } from '../machine/stack-environment.ts';
import { isAlive, memoryBytes } from '../machine/process-table.ts';
import { findPostgresProcesses } from '../servers/launch-postgres.ts';
import { LOOPBACK } from '../machine/ports.ts';
import { readState, type PartRecord } from '../servers/stack-state.ts';
import { isReady } from './run-server.ts';

/** The status of one server. */
interface PartStatus {
  name: string;
  state: 'ready' | 'starting' | 'dead' | 'stopped';
  pid?: number;
  address?: string;
  version?: string;
  memoryBytes?: number;
  /** Where the binary came from. */
  route?: string;
  /** `background`, or the process that the server ends with. */
  owner?: string;
}

/** The status of all servers of a state folder, including those that do not run. */
export async function stackStatus(stateDir: string): Promise<PartStatus[]> {
  const { parts } = readState(stateDir);
  return await Promise.all(
    PART_NAMES.map(async (name) => {
      const record = parts[name];
      return record === undefined ? { name, state: 'stopped' as const } : await partStatus(stateDir, record);
    }),
  );
}

async function partStatus(stateDir: string, record: PartRecord): Promise<PartStatus> {
  const { launch, identity, version, route, owner } = record;
  const common = { name: launch.part, version, route };
  if (!isAlive(identity)) return { ...common, state: 'dead' };
  const processes = launch.part === 'postgres' ? findPostgresProcesses(stateDir) : [identity];
  return {
    ...common,
    state: (await isReady(record)) ? 'ready' : 'starting',
    pid: identity.pid,
    address: addressOf(record),
    memoryBytes: processes.reduce((sum, { pid }) => sum + memoryBytes(pid), 0),
    owner: owner === null ? 'background' : `process ${owner.pid}`,
  };
}

function addressOf({ launch, ports }: PartRecord): string {
  const main = `${LOOPBACK}:${ports[launch.part]}`;
  return launch.part === 'temporal' ? `${main}, UI http://${LOOPBACK}:${ports['temporal-ui']}` : main;
}

/** The status as a table of text. */
export function statusTable(parts: PartStatus[]): string {
  const rows = [['NAME', 'STATUS', 'PID', 'ADDRESS', 'VERSION', 'MEMORY', 'RUNS', 'BINARY FROM']];
  for (const part of parts) {
    const memory = part.memoryBytes === undefined ? '' : `${Math.round(part.memoryBytes / 1024 / 1024)} MB`;
    const cells = [part.name, part.state, part.pid, part.address, part.version, memory, part.owner, part.route];
    rows.push(cells.map((cell) => String(cell ?? '')));
  }
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
