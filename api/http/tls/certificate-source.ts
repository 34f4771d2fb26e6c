import type { SecureContext } from 'node:tls';
import type { Certificate } from './certificate-files.ts';

/** Problem of the certificate, and the time until which it can be used. */
export interface CertificateState {
  readonly expiresAt: Date;
  /** As the end of a sentence about the certificate; undefined while all is well. */
  readonly problem: string | undefined;
  /** Attempts to renew it that failed one after the other. */
  readonly failedRenewals: number;
}

/** Where the certificate of the server comes from: files, or a certificate authority. */
export interface CertificateSource {
  /** Undefined before there is one: then no connection is accepted, except that of the authority that checks the name. */
  readonly current: Certificate | undefined;
  /** Undefined before there is a certificate. */
  readonly state: CertificateState | undefined;
  /** @param listener is called with each new certificate */
  onChange(listener: (certificate: Certificate) => void): void;
  /**
   * The proof for an authority that checks whether this server has the name (RFC 8737). Left out where no authority does.
   * @returns undefined when nobody is expected to ask
   */
  readonly proofFor?: (serverName: string) => Promise<SecureContext | undefined>;
  /** Resolves when there is a certificate. To be called when the port is open. @throws StartError when none comes */
  obtained(): Promise<void>;
  stop(): Promise<void>;
}
