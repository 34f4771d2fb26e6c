import type { Logger } from 'pino';
import {
  CertificateAuthority,
  type AuthoritySettings,
} from '#activities/clients/certificate-authority/certificate-authority.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { publicApiName } from '#config/objects/public-api-url.ts';
import { readCertificateAuthority } from '#config/reading/standard-variables.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { AutomaticCertificate, type CertificateTimes } from './http/tls/automatic-certificate.ts';
import { CertificateRows } from './http/tls/certificate-rows.ts';
import type { CertificateSource } from './http/tls/certificate-source.ts';
import { ServerCertificate } from './http/tls/server-certificate.ts';

/** Which authority issues certificates, and how often it is asked. */
export interface CertificateOptions {
  readonly authority: AuthoritySettings;
  readonly times?: Partial<CertificateTimes>;
}

interface Dependencies {
  readonly config: ConfigStore;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The certificate of the server, from its files or from an authority; undefined while `server.tls.enabled` is off.
 * @throws StartError for files that cannot be used @throws ConfigurationError for variables of the authority
 */
export async function openCertificate(
  { config, database, clock, logger }: Dependencies,
  { authority: settings = readCertificateAuthority(), times }: Partial<CertificateOptions> = {},
): Promise<CertificateSource | undefined> {
  const { tls } = config.current.server;
  if (!tls.enabled) return undefined;
  if (!tls.autocert) return ServerCertificate.load({ files: () => config.current.server.tls, logger });
  const authority = new CertificateAuthority(settings);
  const name = publicApiName(config.current);
  const place = { authority: authority.directoryUrl, name };
  const secrets = () => config.current.sessions.encryptionkey;
  const rows = new CertificateRows({ database, place, secrets });
  return AutomaticCertificate.open({ name, authority, rows, clock, logger, times });
}
