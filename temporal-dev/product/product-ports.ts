import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFree } from '../machine/ports.ts';
import { describeProcess, listenerOf } from '../machine/process-table.ts';
import type { Report } from '../machine/progress-report.ts';
import { StackError } from '../machine/stack-error.ts';

/** Ports of the product itself. */
interface ProductPorts {
  readonly api: number;
  readonly metrics: number;
  /** Metrics of the worker. */
  readonly workerMetrics: number;
  /** The codec server, which decrypts payloads for the Temporal UI. */
  readonly codec: number;
  /** The payment provider of a start without an account at one. */
  readonly payment: number;
  /** The OpenID Connect provider of a start without an account at one. */
  readonly identity: number;
}

const defaults: ProductPorts = {
  api: 17_608,
  metrics: 17_609,
  codec: 17_610,
  workerMetrics: 17_611,
  payment: 17_612,
  identity: 17_613,
};

/** Number of ports that are tried in the search for a free one. */
const searchSteps = 500;

/**
 * Chooses free ports for the product: those of the last start, else the defaults, else other ports near them. Configured
 * ports are used unchanged.
 * @throws StackError that names the process when a configured port is in use
 */
export async function productPorts(
  stateDir: string,
  configured: Partial<ProductPorts>,
  report: Report,
): Promise<ProductPorts> {
  const remembered = readRemembered(fileOf(stateDir));
  const taken = new Set<number>();
  const choose = async (name: keyof ProductPorts): Promise<number> => {
    const own = configured[name];
    const port =
      own === undefined
        ? await firstFree([remembered[name], defaults[name]], defaults[name] + 10, taken)
        : await requireFree(own, name);
    if (own === undefined && remembered[name] !== undefined && remembered[name] !== port) {
      report(`port ${remembered[name]} is in use by ${holderOf(remembered[name])}: ${name} moves to ${port}`);
    }
    taken.add(port);
    return port;
  };
  return {
    api: await choose('api'),
    metrics: await choose('metrics'),
    codec: await choose('codec'),
    workerMetrics: await choose('workerMetrics'),
    payment: await choose('payment'),
    identity: await choose('identity'),
  };
}

/** Stores the ports for the next start, except configured ones. Called only by a start that uses them. */
export function rememberPorts(
  stateDir: string,
  ports: ProductPorts,
  configured: Partial<Record<keyof ProductPorts, unknown>> = {},
): void {
  const remembered = { ...readRemembered(fileOf(stateDir)) };
  for (const [name, port] of Object.entries(ports))
    if (!(name in configured)) Object.assign(remembered, { [name]: port });
  writeFileSync(fileOf(stateDir), `${JSON.stringify(remembered)}\n`);
}

function fileOf(stateDir: string): string {
  return join(stateDir, 'product-ports.json');
}

async function requireFree(port: number, name: string): Promise<number> {
  if (await isFree(port)) return port;
  throw new StackError(
    `port ${port}, configured for ${name}, is in use by ${holderOf(port)}: stop it, or configure another port`,
  );
}

async function firstFree(
  wanted: readonly (number | undefined)[],
  searchFrom: number,
  taken: ReadonlySet<number>,
): Promise<number> {
  const near = Array.from({ length: searchSteps }, (_, step) => searchFrom + step);
  for (const port of [...wanted, ...near]) {
    if (port !== undefined && !taken.has(port) && (await isFree(port))) return port;
  }
  throw new StackError(`no free port between ${searchFrom} and ${searchFrom + searchSteps}: free one and start again`);
}

function holderOf(port: number): string {
  const pid = listenerOf(port);
  return pid === undefined ? 'a process of another user or container' : describeProcess(pid);
}

function readRemembered(file: string): Partial<ProductPorts> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<ProductPorts>;
  } catch {
    // There is no readable file: the ports are chosen again.
    return {};
  }
}
