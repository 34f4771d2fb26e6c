import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseListenAddress } from '#config/schema/format.ts';
import type { Variables } from '../machine/stack-environment.ts';
import { listenUrl, withPort } from './listen-url.ts';
import type { RunningStack } from '../stack/running-stack.ts';

/** Settings that a start on this machine fills in unless the person set them, in the environment or in the file. */
export interface LocalSettings {
  readonly apiPort: number;
  readonly metricsPort: number;
  /** Folder below which mails are written. */
  readonly stateDir: string;
}

/** Which servers the person points elsewhere. */
export interface OwnServers {
  readonly postgres: boolean;
  readonly temporal: boolean;
  readonly openfga: boolean;
}

/** What is set by the person: `CORE_…` variables and the configuration file. */
export class PersonalSettings {
  readonly #variables: Variables;
  readonly #file: unknown;

  /** @param path of the configuration file, which need not be there */
  constructor(variables: Variables, path: string) {
    this.#variables = variables;
    this.#file = tryParse(path);
  }

  has(path: string): boolean {
    const variable = `CORE_${path.toUpperCase().replaceAll('.', '_')}`;
    if (this.#variables[variable] !== undefined || this.#variables[`${variable}_FILE`] !== undefined) return true;
    return valueAt(this.#file, path.split('.')) !== undefined;
  }

  /** A text, wherever it is set; undefined when it is not. */
  text(path: string): string | undefined {
    const variable = this.#variables[`CORE_${path.toUpperCase().replaceAll('.', '_')}`];
    const value = variable ?? valueAt(this.#file, path.split('.'));
    return typeof value === 'string' ? value : undefined;
  }

  /** The value of a switch, wherever it is set; undefined when it is not. */
  flag(path: string): boolean | undefined {
    const variable = this.#variables[`CORE_${path.toUpperCase().replaceAll('.', '_')}`];
    if (variable !== undefined) return variable === 'true';
    const value = valueAt(this.#file, path.split('.'));
    return typeof value === 'boolean' ? value : undefined;
  }

  /** Whether the person leaves the port to us (port 0). It is chosen before the start: links and tokens name it. */
  isPortOpen(path: string): boolean {
    return parseListenAddress(this.text(path) ?? '')?.port === 0;
  }

  get ownServers(): OwnServers {
    return {
      postgres: this.has('db.primarydbsource'),
      temporal: this.has('jobqueue.connectionuri'),
      openfga: this.has('authz.hosturl'),
    };
  }
}

/** The variables of API and worker: what the person set, and for the rest what fits this machine. */
export function productEnvironment(
  variables: Variables,
  personal: PersonalSettings,
  stack: Pick<RunningStack, 'postgres' | 'temporal' | 'openfga' | 'redis'> | undefined,
  { apiPort, metricsPort, stateDir }: LocalSettings,
): Record<string, string> {
  const listen = withPort(personal.text('server.listen') ?? '127.0.0.1:0', apiPort);
  const metrics = withPort(personal.text('server.metricsport') ?? '127.0.0.1:0', metricsPort);
  const url = listenUrl(listen);
  const local: Record<string, string | undefined> = {
    'server.dev': 'true',
    'server.listen': listen,
    'server.metricsport': metrics,
    // Plain HTTP on this machine: browsers and curl keep secure cookies to themselves.
    'server.csrfprotection.secure': 'false',
    'sessions.secure': 'false',
    'db.primarydbsource': stack?.postgres?.url('core'),
    'authz.hosturl': stack?.openfga?.url,
    'jobqueue.connectionuri': stack?.temporal && `temporal://${stack.temporal.address}/default`,
    ...(stack?.redis ? redisSettings(new URL(stack.redis.url)) : {}),
    'auth.token.kid': 'local',
    'auth.token.issuer': url,
    'auth.token.audience': url,
    'integrations.email.fromemail': 'core@localhost.localdomain',
    'integrations.email.apiurl': url,
    'integrations.email.testdir': join(stateDir, 'email'),
  };
  const filled = Object.entries(local).flatMap(([path, value]) =>
    value === undefined || (personal.has(path) && !personal.isPortOpen(path))
      ? []
      : [[`CORE_${path.toUpperCase().replaceAll('.', '_')}`, value] as const],
  );
  return { ...definedOnly(variables), ...Object.fromEntries(filled) };
}

function redisSettings(url: URL): Record<string, string> {
  return { 'cache.address': url.host, 'cache.password': decodeURIComponent(url.password) };
}

function definedOnly(variables: Variables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
  return valueAt((value as Record<string, unknown>)[key], rest);
}

function tryParse(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch {
    // What cannot be read is reported by the configuration loader, with line and remedy.
    return undefined;
  }
}
