import type { Logger } from 'pino';
import { StartError } from '#runtime/start-error.ts';
import type { CertificateSource, CertificateState } from './certificate-source.ts';
import {
  CertificateProblem,
  readCertificate,
  signatureOf,
  type Certificate,
  type CertificateFiles,
} from './certificate-files.ts';

/** Time between two polls of the files, in milliseconds. */
const pollMs = 1_000;

interface Options {
  /** The files as the configuration names them now. */
  readonly files: () => CertificateFiles;
  readonly logger: Logger;
}

/**
 * The certificate of the server, which follows its files: when they have changed and then stayed the same until the next poll, they are
 * read again. A certificate that cannot be used is logged once, and the previous one stays.
 */
export class ServerCertificate implements CertificateSource {
  readonly #options: Options;
  readonly #listeners = new Set<(certificate: Certificate) => void>();
  #current: Certificate;
  /** Signature of the files that were read last, whether they could be used or not. */
  #read: string;
  #seen: string;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  private constructor(options: Options, current: Certificate, signature: string) {
    this.#options = options;
    this.#current = current;
    this.#read = signature;
    this.#seen = signature;
    this.#warnOfExpiry();
    this.#arm();
  }

  /** Reads the files and follows them until `stop`. @throws StartError with the field and the reason */
  static async load(options: Options): Promise<ServerCertificate> {
    try {
      const signature = await signatureOf(options.files());
      return new ServerCertificate(options, await readCertificate(options.files()), signature);
    } catch (error) {
      if (!(error instanceof CertificateProblem)) throw error;
      throw new StartError(`HTTPS is on (server.tls.enabled), but ${error.message}.`, error);
    }
  }

  get current(): Certificate {
    return this.#current;
  }

  get state(): CertificateState {
    const { expiresAt } = this.#current;
    const problem = expiresAt.getTime() <= Date.now() ? 'has expired' : undefined;
    return { expiresAt, problem, failedRenewals: 0 };
  }

  onChange(listener: (certificate: Certificate) => void): void {
    this.#listeners.add(listener);
  }

  /** It was there from the beginning. */
  async obtained(): Promise<void> {}

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#timer = setTimeout(() => {
      this.#poll()
        .catch((error: unknown) =>
          this.#options.logger.error({ err: error }, 'the certificate could not be read again'),
        )
        .finally(() => !this.#isStopped && this.#arm());
    }, pollMs).unref();
  }

  async #poll(): Promise<void> {
    const files = this.#options.files();
    const signature = await signatureOf(files);
    const isSettled = signature === this.#seen;
    this.#seen = signature;
    if (!isSettled || signature === this.#read) return;
    this.#read = signature;
    try {
      this.#use(await readCertificate(files));
    } catch (error) {
      if (!(error instanceof CertificateProblem)) throw error;
      this.#options.logger.warn(`${error.message}; the previous certificate stays in use`);
    }
  }

  #use(certificate: Certificate): void {
    this.#current = certificate;
    for (const listener of this.#listeners) listener(certificate);
    this.#options.logger.info({ expires_at: certificate.expiresAt.toISOString() }, 'the certificate was replaced');
    this.#warnOfExpiry();
  }

  #warnOfExpiry(): void {
    const { expiresAt } = this.#current;
    if (expiresAt.getTime() <= Date.now())
      this.#options.logger.warn(
        { expires_at: expiresAt.toISOString() },
        'the certificate of server.tls.certfile has expired: clients will refuse it',
      );
  }
}
