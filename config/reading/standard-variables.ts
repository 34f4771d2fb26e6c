/**
 * Settings that use the standard environment variables of other systems instead of `CORE_…`: tracing (OpenTelemetry
 * specification, OTLP exporter) and credentials for Temporal (Temporal's environment configuration). And what only tests set.
 */
import { httpUrl } from '../schema/format.ts';
import { ConfigurationError, type Problem } from '../schema/config-problem.ts';
import type { Environment } from './read-environment.ts';

/** A named point in the code at which a test kills, fails or pauses the process (entities/kit/base/failpoint.ts). */
export interface FailpointSetting {
  readonly name: string;
  readonly action: 'kill' | 'throw' | 'pause';
  /** Number of passes before the action is taken. */
  readonly after: number;
}

/** Settings of tracing. */
export interface TelemetryEnvironment {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`. When undefined, no traces are sent. */
  readonly otlpEndpoint?: string;
}

/** Credentials for Temporal. Files are PEM files. */
export interface TemporalEnvironment {
  /** `TEMPORAL_API_KEY`; it implies TLS. */
  readonly apiKey?: string;
  /** `TEMPORAL_TLS_CLIENT_CERT_PATH` */
  readonly tlsCertFile?: string;
  /** `TEMPORAL_TLS_CLIENT_KEY_PATH` */
  readonly tlsKeyFile?: string;
  /** `TEMPORAL_TLS_SERVER_NAME` */
  readonly tlsServerName?: string;
  /** `TEMPORAL_TLS_SERVER_CA_CERT_PATH` */
  readonly tlsCaFile?: string;
}

/**
 * Where people see workflows (`TEMPORAL_UI_URL`), for links; undefined without one. Throws a `ConfigurationError` when it is not a URL.
 */
export function readTemporalUi(environment: Environment = process.env): string | undefined {
  const variable = 'TEMPORAL_UI_URL';
  const url = environment[variable] ?? '';
  if (url === '') return undefined;
  const reason = httpUrl.check(url);
  if (reason !== undefined) refuse({ where: variable, reason, remedy: 'write it like http://127.0.0.1:8233' });
  return url.replace(/\/+$/, '');
}

function refuse(problem: Omit<Problem, 'path'>): never {
  throw new ConfigurationError([{ ...problem, path: '' }]);
}

/** Reads the endpoint for traces. Throws a `ConfigurationError` when it is not a URL. */
export function readTelemetryEnvironment(environment: Environment = process.env): TelemetryEnvironment {
  const variable = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const otlpEndpoint = environment[variable] ?? '';
  if (otlpEndpoint === '') return {};
  const reason = httpUrl.check(otlpEndpoint);
  if (reason !== undefined) refuse({ where: variable, reason, remedy: 'write it like http://127.0.0.1:4318' });
  return { otlpEndpoint };
}

/** Reads the credentials for Temporal. Throws a `ConfigurationError` when only one of certificate and key is set. */
export function readTemporalEnvironment(environment: Environment = process.env): TemporalEnvironment {
  const certificate = 'TEMPORAL_TLS_CLIENT_CERT_PATH';
  const key = 'TEMPORAL_TLS_CLIENT_KEY_PATH';
  const variables = {
    apiKey: 'TEMPORAL_API_KEY',
    tlsCertFile: certificate,
    tlsKeyFile: key,
    tlsServerName: 'TEMPORAL_TLS_SERVER_NAME',
    tlsCaFile: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  };
  const entries = Object.entries(variables).map(([name, variable]) => [name, environment[variable] ?? ''] as const);
  const temporal: TemporalEnvironment = Object.fromEntries(entries.filter(([, value]) => value !== ''));
  if ((temporal.tlsCertFile === undefined) !== (temporal.tlsKeyFile === undefined)) {
    const [set, missing] = temporal.tlsKeyFile === undefined ? [certificate, key] : [key, certificate];
    refuse({ where: set, reason: `is set, but ${missing} is not`, remedy: 'set both or neither' });
  }
  return temporal;
}

/** The certificate authority of `server.tls.autocert` (ACME, RFC 8555). */
export interface CertificateAuthorityEnvironment {
  /** `ACME_DIRECTORY_URL`; Let's Encrypt when it is not set. */
  readonly directoryUrl: string;
  /** `ACME_EAB_KID` and `ACME_EAB_HMAC_KEY`, for authorities that only take customers whom they know (section 7.3.4). */
  readonly externalAccount?: { readonly keyId: string; readonly hmacKey: string };
}

/** The authority that issues certificates where nothing else is said. */
const publicAuthority = 'https://acme-v02.api.letsencrypt.org/directory';

/** Reads which authority issues certificates. Throws a `ConfigurationError` for a wrong value. */
export function readCertificateAuthority(environment: Environment = process.env): CertificateAuthorityEnvironment {
  const variables = { directory: 'ACME_DIRECTORY_URL', keyId: 'ACME_EAB_KID', hmacKey: 'ACME_EAB_HMAC_KEY' } as const;
  const directoryUrl = environment[variables.directory] || publicAuthority;
  if (httpUrl.check(directoryUrl) !== undefined || !directoryUrl.startsWith('https://'))
    refuse({
      where: variables.directory,
      reason: 'is not a URL with https',
      remedy: `write it like ${publicAuthority}`,
    });
  const keyId = environment[variables.keyId] ?? '';
  const hmacKey = environment[variables.hmacKey] ?? '';
  if ((keyId === '') !== (hmacKey === '')) {
    const [set, missing] = keyId === '' ? [variables.hmacKey, variables.keyId] : [variables.keyId, variables.hmacKey];
    refuse({ where: set, reason: `is set, but ${missing} is not`, remedy: 'set both or neither' });
  }
  if (!/^[\w-]*=*$/.test(hmacKey))
    refuse({
      where: variables.hmacKey,
      reason: 'is not base64url',
      remedy: 'write it as the authority has given it',
    });
  return { directoryUrl, ...(keyId === '' ? {} : { externalAccount: { keyId, hmacKey } }) };
}

/** Settings of tests for the providers of e-mail. */
export interface EmailProviderEnvironment {
  /** Where they are, by their names in `integrations.email.provider`. */
  readonly urls: { readonly [Name in 'providera' | 'providerb']?: string };
  /** How long after an attempt without an answer a provider is asked what became of it, in milliseconds. */
  readonly askAfterMs?: number;
}

/**
 * Reads `EMAIL_PROVIDERA_URL` and `EMAIL_PROVIDERB_URL`, with which tests put servers of their own in the place of the providers, and
 * `EMAIL_PROVIDER_ASK_AFTER_MS`. They are for processes whose server.dev is on. Throws a `ConfigurationError` for a wrong value.
 */
export function readEmailProviders(environment: Environment = process.env): EmailProviderEnvironment {
  const variables = { providera: 'EMAIL_PROVIDERA_URL', providerb: 'EMAIL_PROVIDERB_URL' } as const;
  const set = Object.entries(variables).flatMap(([name, variable]) => {
    const url = environment[variable] ?? '';
    if (url === '') return [];
    const reason = httpUrl.check(url);
    if (reason !== undefined) refuse({ where: variable, reason, remedy: 'write it like http://127.0.0.1:4318' });
    return [[name, url] as const];
  });
  const variable = 'EMAIL_PROVIDER_ASK_AFTER_MS';
  const askAfter = environment[variable] ?? '';
  if (!/^\d{0,9}$/.test(askAfter))
    refuse({ where: variable, reason: 'is not a number of milliseconds', remedy: 'write it like 1000' });
  return { urls: Object.fromEntries(set), ...(askAfter === '' ? {} : { askAfterMs: Number(askAfter) }) };
}

/**
 * Reads `PAYMENT_PROVIDER_URL`, with which `npm start` and tests put a server of their own in the place of the payment provider. It is for
 * processes whose server.dev is on. Throws a `ConfigurationError` for a wrong value.
 */
export function readPaymentProvider(environment: Environment = process.env): { readonly url?: string } {
  const variable = 'PAYMENT_PROVIDER_URL';
  const url = environment[variable] ?? '';
  if (url === '') return {};
  const reason = httpUrl.check(url);
  if (reason !== undefined) refuse({ where: variable, reason, remedy: 'write it like http://127.0.0.1:12111' });
  return { url };
}

/**
 * Reads `INTEGRATION_PROVIDER_URLS`, with which tests put servers of their own in the place of the other systems of integrations: usual URLs and
 * other ones, such as `https://slack.com=http://127.0.0.1:4318`, separated by commas. It is for processes whose server.dev is on. Throws a
 * `ConfigurationError` for what is no pair of URLs.
 */
export function readIntegrationProviders(environment: Environment = process.env): {
  readonly urls?: Readonly<Record<string, string>>;
} {
  const variable = 'INTEGRATION_PROVIDER_URLS';
  const entries = (environment[variable] ?? '').split(',').filter((entry) => entry !== '');
  if (entries.length === 0) return {};
  const pairs = entries.map((entry) => {
    const [usual = '', url = ''] = entry.split('=', 2);
    const reason = httpUrl.check(usual) ?? httpUrl.check(url);
    if (reason !== undefined)
      refuse({ where: variable, reason, remedy: 'write it like https://slack.com=http://127.0.0.1:4318' });
    return [usual, url] as const;
  });
  return { urls: Object.fromEntries(pairs) };
}

/** Folder for the generated secrets and other files of a local installation: `STACK_STATE_DIR`, else `.local`. */
export function readStateFolder(environment: Environment = process.env): string {
  return environment['STACK_STATE_DIR'] || '.local';
}

/**
 * Reads `FAILPOINTS`, a list of `NAME=ACTION` or `NAME=ACTION@PASSES` separated by commas, such as `after-commit=kill@3`. A name can
 * say what passes, as in `work-claimed:file/copies`.
 * Failpoints are only active while server.dev is on. Throws a `ConfigurationError` for an invalid entry.
 */
export function readFailpoints(environment: Environment = process.env): FailpointSetting[] {
  const variable = 'FAILPOINTS';
  const entries = (environment[variable] ?? '').split(',').filter((entry) => entry.trim() !== '');
  return entries.map((entry) => {
    const match = /^(?<name>[a-z-]+(?::[a-zA-Z/-]+)?)=(?<action>kill|throw|pause)(?:@(?<after>\d{1,6}))?$/u.exec(
      entry.trim(),
    )?.groups;
    if (match === undefined) {
      refuse({ where: variable, reason: `"${entry}" is not a failpoint`, remedy: 'write it like after-commit=kill@3' });
    }
    return {
      name: match.name ?? '',
      action: match.action as FailpointSetting['action'],
      after: Number(match.after ?? 0),
    };
  });
}
