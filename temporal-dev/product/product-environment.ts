import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseListenAddress } from '#config/schema/format.ts';
import { providerNames } from '#entities/kit/objects/stored-object.ts';
import type { Variables } from '../machine/stack-environment.ts';
import { listenUrl, withPort } from './listen-url.ts';
import { localIdentitySettings } from './local-identity.ts';
import { localPaymentSettings } from './local-payment.ts';
import type { RunningStack } from '../stack/running-stack.ts';

/** Settings of a local start, used unless the user set them in the environment or in the file. */
interface LocalSettings {
  readonly apiPort: number;
  readonly metricsPort: number;
  /** Folder below which mails and the key of API tokens are kept. */
  readonly stateDir: string;
  /** URL of the payment provider that this start brings; undefined without one. */
  readonly paymentUrl?: string | undefined;
  /** URL of the OpenID Connect provider that this start brings; undefined without one. */
  readonly identityUrl?: string | undefined;
}

/** Servers that the user configured, so that no local one is started. */
interface OwnServers {
  readonly postgres: boolean;
  readonly temporal: boolean;
  readonly openfga: boolean;
}

/** The settings of the user: `CORE_…` variables and the configuration file. */
export class PersonalSettings {
  readonly #variables: Variables;
  readonly #file: unknown;

  /** @param path of the configuration file, which may be missing */
  constructor(variables: Variables, path: string) {
    this.#variables = variables;
    this.#file = tryParse(path);
  }

  has(path: string): boolean {
    const variable = `CORE_${path.toUpperCase().replaceAll('.', '_')}`;
    if (this.#variables[variable] !== undefined || this.#variables[`${variable}_FILE`] !== undefined) return true;
    return valueAt(this.#file, path.split('.')) !== undefined;
  }

  /** The text at a path; undefined when it is not set. */
  text(path: string): string | undefined {
    const variable = this.#variables[`CORE_${path.toUpperCase().replaceAll('.', '_')}`];
    const value = variable ?? valueAt(this.#file, path.split('.'));
    return typeof value === 'string' ? value : undefined;
  }

  /** The boolean at a path; undefined when it is not set. */
  flag(path: string): boolean | undefined {
    const variable = this.#variables[`CORE_${path.toUpperCase().replaceAll('.', '_')}`];
    if (variable !== undefined) return variable === 'true';
    const value = valueAt(this.#file, path.split('.'));
    return typeof value === 'boolean' ? value : undefined;
  }

  /** Whether the user configured port 0. Then a port is chosen before the start, because links and tokens contain it. */
  isPortOpen(path: string): boolean {
    return parseListenAddress(this.text(path) ?? '')?.port === 0;
  }

  /** Whether the user configured a provider of object storage. */
  get hasStorage(): boolean {
    return providerNames.some((name) => this.flag(`objectstorage.providers.${name}.enabled`) === true);
  }

  /** Prefix of variables with keys of API tokens; empty where none are read. */
  get tokenKeyPrefix(): string {
    return this.text('auth.token.apitokens.envprefix') ?? 'CORE_API_TOKEN_KEY_';
  }

  /** Whether the user configured a key with which API tokens can be signed. */
  get hasActiveTokenKey(): boolean {
    const prefix = this.tokenKeyPrefix;
    const named = valueAt(this.#file, ['auth', 'token', 'apitokens', 'keys']) ?? {};
    return (
      Object.values(named).some((key) => (valueAt(key, ['status']) ?? 'active') === 'active') ||
      Object.entries(this.#variables).some(
        ([name, value]) => prefix !== '' && name.startsWith(prefix) && !/^(?:deprecated|revoked):/.test(value ?? ''),
      )
    );
  }

  get ownServers(): OwnServers {
    return {
      postgres: this.has('db.primarydbsource'),
      temporal: this.has('jobqueue.connectionuri'),
      openfga: this.has('authz.hosturl'),
    };
  }
}

/** The environment of API and worker: the settings of the user, and local values for the rest. */
export function productEnvironment(
  variables: Variables,
  personal: PersonalSettings,
  stack: Pick<RunningStack, 'postgres' | 'temporal' | 'openfga' | 'redis'> | undefined,
  { apiPort, metricsPort, stateDir, paymentUrl, identityUrl }: LocalSettings,
): Record<string, string> {
  const listen = withPort(personal.text('server.listen') ?? '127.0.0.1:0', apiPort);
  const metrics = withPort(personal.text('server.metricsport') ?? '127.0.0.1:0', metricsPort);
  const url = listenUrl(listen);
  const { tokenKeyPrefix } = personal;
  const local: Record<string, string | undefined> = {
    'server.dev': 'true',
    'server.listen': listen,
    'server.metricsport': metrics,
    // The API uses plain HTTP, over which browsers and curl do not send Secure cookies.
    'server.csrfprotection.secure': 'false',
    'sessions.secure': 'false',
    'db.primarydbsource': stack?.postgres?.url('core'),
    'authz.hosturl': stack?.openfga?.url,
    'jobqueue.connectionuri': stack?.temporal && `temporal://${stack.temporal.address}/default`,
    ...(paymentUrl === undefined ? {} : localPaymentSettings(paymentUrl, url, personal)),
    ...(identityUrl === undefined ? {} : localIdentitySettings(identityUrl, url)),
    ...(stack?.redis ? redisSettings(new URL(stack.redis.url)) : {}),
    'auth.token.kid': 'local',
    'auth.token.issuer': url,
    'auth.token.audience': url,
    'integrations.email.fromemail': 'core@localhost.localdomain',
    'integrations.email.apiurl': url,
    'integrations.email.testdir': join(stateDir, 'email'),
    // Ignores all providers.
    'objectstorage.devmode': personal.hasStorage ? undefined : 'true',
    'server.enablegraphsubscriptions': 'true',
    // Receivers of a developer are on the same machine.
    'workflows.webhookallowprivateaddresses': 'true',
    // Without a key they cannot be accepted.
    'auth.token.apitokens.enabled': personal.hasActiveTokenKey || tokenKeyPrefix !== '' ? 'true' : undefined,
  };
  const filled = Object.entries(local).flatMap(([path, value]) =>
    value === undefined || (personal.has(path) && !personal.isPortOpen(path))
      ? []
      : [[`CORE_${path.toUpperCase().replaceAll('.', '_')}`, value] as const],
  );
  const needsKey =
    tokenKeyPrefix !== '' && !personal.hasActiveTokenKey && personal.flag('auth.token.apitokens.enabled') !== false;
  const keys: Record<string, string> = needsKey ? { [`${tokenKeyPrefix}LOCAL`]: keptTokenKey(stateDir) } : {};
  const payment: Record<string, string> = paymentUrl === undefined ? {} : { PAYMENT_PROVIDER_URL: paymentUrl };
  return { ...payment, ...definedOnly(variables), ...keys, ...Object.fromEntries(filled) };
}

/** The key of API tokens and personal tokens, unless the user has configured one. The same at each start, so that tokens stay valid. */
function keptTokenKey(stateDir: string): string {
  const file = join(stateDir, 'api-token-key');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

/**
 * The environment of a worker that runs beside the API: its metrics have a port of their own.
 * @param metricsport of the API
 * @param port of the worker
 */
export function besideApi(
  environment: Readonly<Record<string, string>>,
  metricsport: string,
  port: number,
): Readonly<Record<string, string>> {
  if (metricsport === '') return environment;
  const { CORE_SERVER_METRICSPORT_FILE: _file, ...others } = environment;
  return { ...others, CORE_SERVER_METRICSPORT: metricsport.replace(/:\d+$/, `:${port}`) };
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
    // The configuration loader reports a file that cannot be read, with line and remedy.
    return undefined;
  }
}
