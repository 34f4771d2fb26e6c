import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '#entities/kit/base/clock.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import { StartError } from '#runtime/start-error.ts';
import type { Authority, AuthorityFailure } from './authority.ts';
import type { Certificate } from './certificate-files.ts';
import type { CertificateRows, KeptCertificate } from './certificate-rows.ts';
import type { CertificateSource, CertificateState } from './certificate-source.ts';
import { checkIssued, readIssued } from './issued-certificate.ts';
import { earliestNextOrder, pauseAfter, renewalTime } from './renewal-time.ts';

/** Pauses and limits, in milliseconds. */
export interface CertificateTimes {
  /** Between two polls for what other processes have obtained, and whether a renewal is due. */
  readonly poll: number;
  /** The same before the first certificate. */
  readonly firstPoll: number;
  /** Longest wait for the first certificate at the start. */
  readonly start: number;
}

const usualTimes: CertificateTimes = { poll: 30_000, firstPoll: 1_000, start: 300_000 };

/** How long a process may be silent before another one takes over its order, and how often it speaks, in milliseconds. */
const hold = { forMs: 60_000, everyMs: 15_000 } as const;

/** Maximum time of one order, in milliseconds. */
const maxOrderMs = 240_000;

/** State before the first attempt, and after one that succeeded. */
const noAttempt = { failedAttempts: 0, lastFailure: null, nextAttemptAt: null } as const;

/** Time between two lines of the log about the wait for the first certificate, in milliseconds. */
const progressMs = 30_000;

interface Options {
  readonly name: string;
  readonly authority: Authority;
  readonly rows: CertificateRows;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly times?: Partial<CertificateTimes> | undefined;
}

/**
 * A certificate that an authority issues, and renews in time (`server.tls.autocert`). All processes share it: one orders, the others
 * find it in the database, and any of them shows the proof that the authority asks for. While a renewal fails, the certificate before
 * stays.
 */
export class AutomaticCertificate implements CertificateSource {
  readonly #options: Options;
  readonly #times: CertificateTimes;
  readonly #listeners = new Set<(certificate: Certificate) => void>();
  #current: Certificate | undefined;
  /** State after the last attempt, of whatever process. */
  #last: Pick<KeptCertificate, 'failedAttempts' | 'lastFailure' | 'nextAttemptAt'> = noAttempt;
  #pollFailure = '';
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #stopWaiting = () => {};
  #holder: string | undefined;
  /** Proofs are looked up one at a time; who comes while one is looked up waits for the next look-up. */
  #lastRead: Promise<unknown> = Promise.resolve();
  #nextRead: Promise<KeptCertificate | undefined> | undefined;
  #shown: { readonly keyAuthorization: string; readonly context: SecureContext } | undefined;

  private constructor(options: Options) {
    this.#options = options;
    this.#times = { ...usualTimes, ...options.times };
  }

  /** Reads what earlier processes have obtained. Nothing is ordered before `obtained` is called. */
  static async open(options: Options): Promise<AutomaticCertificate> {
    const certificate = new AutomaticCertificate(options);
    const kept = await options.rows.read();
    if (kept) certificate.#adopt(kept);
    for (const secret of kept?.unreadable ?? [])
      options.logger.warn(
        `${secret} cannot be opened with sessions.encryptionkey: a new one is made. To keep it, add the earlier secret to sessions.encryptionkey, after a comma`,
      );
    return certificate;
  }

  get current(): Certificate | undefined {
    return this.#current;
  }

  get state(): CertificateState | undefined {
    if (!this.#current) return undefined;
    const { expiresAt } = this.#current;
    const hasExpired = expiresAt <= this.#options.clock.now();
    const { failedAttempts } = this.#last;
    const problem = hasExpired
      ? 'has expired'
      : failedAttempts > 0
        ? 'cannot be renewed; it is tried again'
        : undefined;
    return { expiresAt, problem, failedRenewals: failedAttempts };
  }

  onChange(listener: (certificate: Certificate) => void): void {
    this.#listeners.add(listener);
  }

  /** The authority may ask any process, so what it expects is read from the database. */
  readonly proofFor = async (serverName: string): Promise<SecureContext | undefined> => {
    const { name, rows } = this.#options;
    if (serverName.toLowerCase() !== name) return undefined;
    // Every client can ask for a proof: at other times the database is not asked.
    if (!this.#isDue) return undefined;
    this.#nextRead ??= this.#lastRead.then(() => {
      this.#nextRead = undefined;
      const read = rows.read();
      this.#lastRead = read.catch(() => undefined);
      return read;
    });
    const keyAuthorization = (await this.#nextRead)?.keyAuthorization;
    if (!keyAuthorization) return undefined;
    return this.#contextOf(keyAuthorization);
  };

  async #contextOf(keyAuthorization: string): Promise<SecureContext> {
    if (this.#shown?.keyAuthorization !== keyAuthorization) {
      const { name, authority } = this.#options;
      const proof = await authority.proof(name, keyAuthorization);
      this.#shown = { keyAuthorization, context: createSecureContext(proof) };
    }
    return this.#shown.context;
  }

  /** Keeps the certificate current, and waits for the first one, or until `stop`. @throws StartError when none comes in time */
  async obtained(): Promise<void> {
    const { name, authority, logger } = this.#options;
    const first = new Promise<void>((resolve) => {
      this.#listeners.add(() => resolve());
      this.#stopWaiting = resolve;
    });
    this.#arm(0);
    if (this.#current) return;
    const from = { name, authority: authority.directoryUrl };
    logger.info(from, 'waiting for the first certificate; until it is there, other connections are refused');
    const progress = setInterval(
      () => logger.info({ ...from, reason: this.#last.lastFailure }, 'still waiting for the first certificate'),
      progressMs,
    );
    try {
      await withTimeout(first, this.#times.start, () => {
        throw new StartError(this.#hint());
      });
    } finally {
      clearInterval(progress);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#stopWaiting();
    const holder = this.#holder;
    if (holder !== undefined)
      await this.#options.rows
        .release(holder)
        .catch((error: unknown) => this.#options.logger.debug({ err: error }, 'the order is left to run out'));
  }

  /** Whether a certificate should be ordered, by this process or another one. */
  get #isDue(): boolean {
    return !this.#current || this.#options.clock.now() >= renewalTime(this.#current);
  }

  #hint(): string {
    const { name, authority } = this.#options;
    const { lastFailure, nextAttemptAt } = this.#last;
    const reason =
      lastFailure === null
        ? 'the order is still under way'
        : `the authority ${lastFailure}${nextAttemptAt ? ` (the next attempt is at ${nextAttemptAt.toISOString()})` : ''}`;
    return `server.tls.autocert is on, but no certificate for ${name} came from ${authority.directoryUrl} within ${this.#times.start / 1_000} s: ${reason}. The authority must reach this server at port 443 of ${name} (server.listen, or a port that is forwarded there without ending TLS).`;
  }

  #arm(delayMs = this.#current ? this.#times.poll : this.#times.firstPoll): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#pollAndContinue(), delayMs).unref();
  }

  async #pollAndContinue(): Promise<void> {
    try {
      await this.#poll();
      this.#pollFailure = '';
    } catch (error) {
      const { message } = error as Error;
      // Logged once: it may last as long as the database cannot be reached.
      if (message !== this.#pollFailure && !this.#isStopped)
        this.#options.logger.warn({ err: error }, 'the certificate could not be renewed; trying again');
      this.#pollFailure = message;
    }
    this.#arm();
  }

  async #poll(): Promise<void> {
    const { rows, clock } = this.#options;
    const kept = await rows.read();
    if (kept) this.#adopt(kept);
    if (!this.#isDue) return;
    const now = clock.now();
    if (kept?.nextAttemptAt && now < kept.nextAttemptAt) return;
    const holder = newId();
    const held = await rows.hold(holder, new Date(now.getTime() + hold.forMs));
    if (!held) return;
    // Stopped while it asked: the order is left to another process at once.
    if (this.#isStopped) await rows.release(holder);
    else await this.#attempt(holder, held);
  }

  /** Takes what is kept over if it is another certificate than the current one. */
  #adopt(kept: KeptCertificate): void {
    this.#last = kept;
    const { issued } = kept;
    if (!issued || issued.cert === this.#current?.cert) return;
    const wasThere = this.#current !== undefined;
    this.#current = readIssued(issued);
    const { logger, name, clock } = this.#options;
    const facts = { name, expires_at: this.#current.expiresAt.toISOString() };
    if (this.#current.expiresAt <= clock.now()) logger.warn(facts, 'the certificate has expired: it is renewed');
    else logger.info(facts, wasThere ? 'the certificate was replaced' : 'there is a certificate');
    for (const listener of this.#listeners) listener(this.#current);
  }

  async #attempt(holder: string, held: KeptCertificate): Promise<void> {
    const { name, authority, rows, clock, logger } = this.#options;
    this.#holder = holder;
    const speak = setInterval(() => {
      rows
        .extend(holder, new Date(clock.now().getTime() + hold.forMs))
        .catch((error: unknown) => logger.debug({ err: error }, 'the order could not be held'));
    }, hold.everyMs);
    try {
      logger.info({ name, authority: authority.directoryUrl }, 'ordering a certificate');
      const issued = await withTimeout(this.#order(holder, held), maxOrderMs, () => {
        throw new Error(`gives no certificate within ${maxOrderMs / 1_000} s`);
      });
      const now = clock.now();
      const checked = checkIssued(issued, { name, now });
      await rows.succeed(holder, checked, earliestNextOrder(checked, now));
      this.#adopt({ ...held, ...noAttempt, issued });
    } catch (error) {
      await this.#note(error as AuthorityFailure, holder, held.failedAttempts + 1);
    } finally {
      clearInterval(speak);
      this.#holder = undefined;
    }
  }

  async #order(holder: string, { account: kept }: KeptCertificate) {
    const { name, authority, rows } = this.#options;
    const opened = async (key?: string) => {
      const account = await authority.openAccount(key);
      await rows.keepAccount(holder, account);
      return account;
    };
    const show = async (keyAuthorization: string) => {
      // Made before it is asked for: authorities wait for seconds only.
      await this.#contextOf(keyAuthorization);
      await rows.show(holder, keyAuthorization);
    };
    const account = kept ?? (await opened());
    try {
      return await authority.order(account, name, show);
    } catch (error) {
      if (!kept || (error as AuthorityFailure).type !== 'accountDoesNotExist') throw error;
      return await authority.order(await opened(kept.key), name, show);
    }
  }

  async #note(problem: AuthorityFailure, holder: string, failed: number): Promise<void> {
    const { rows, clock, logger, authority, name } = this.#options;
    if (this.#isStopped) return;
    const pauseMs = pauseAfter(failed, {
      isTemporary: problem.isTemporary ?? false,
      retryAfterMs: problem.retryAfterMs,
    });
    const next = new Date(clock.now().getTime() + pauseMs);
    await rows.fail(holder, problem.message, next);
    this.#last = { failedAttempts: failed, lastFailure: problem.message, nextAttemptAt: next };
    logger.warn(
      { name, authority: authority.directoryUrl, failed_attempts: failed, next_attempt_at: next.toISOString() },
      `no certificate: the authority ${problem.message}${this.#current ? '; the previous certificate stays in use' : ''}`,
    );
  }
}
