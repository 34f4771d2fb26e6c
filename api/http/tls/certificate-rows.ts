import {
  continueOrder,
  endOrder,
  holdOrder,
  keepResealed,
  readCertificateRow,
  releaseOrder,
  type CertificatePlace,
  type CertificateRow,
} from '#entities/kit/access/automatic-certificates.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { openSecret, sealSecret } from '#entities/kit/base/secrets/sealed-secret.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** An account with a certificate authority: its private key in PEM, and its address. */
export interface KeptAccount {
  readonly key: string;
  readonly url: string;
}

/** State of the certificate that all processes share, with its secrets in clear. */
export interface KeptCertificate extends Pick<
  CertificateRow,
  'keyAuthorization' | 'failedAttempts' | 'lastFailure' | 'nextAttemptAt'
> {
  /** Undefined as well when no configured key opens it. */
  readonly account: KeptAccount | undefined;
  readonly issued: { readonly cert: string; readonly key: string } | undefined;
  /** Secrets that no configured key opens. */
  readonly unreadable: readonly string[];
}

interface Options {
  readonly database: Database;
  readonly place: CertificatePlace;
  /** `sessions.encryptionkey` */
  readonly secrets: () => string;
}

type Secret = 'account' | 'privateKey';

/** The rows of one certificate, which all processes share. Its secrets are encrypted. */
export class CertificateRows {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Stored columns. Secrets that an earlier key encrypted are encrypted with the newest one. */
  async read(): Promise<KeptCertificate | undefined> {
    const { place } = this.#options;
    const row = await this.#transact((unit) => readCertificateRow(unit, place));
    return row && this.#opened(row);
  }

  /** See `holdOrder`. */
  async hold(holder: string, heldUntil: Date): Promise<KeptCertificate | undefined> {
    const row = await this.#transact((unit) => holdOrder(unit, this.#options.place, holder, heldUntil));
    return row && this.#opened(row);
  }

  /** @throws Error when the reservation ran out */
  async extend(holder: string, heldUntil: Date): Promise<void> {
    await this.#continue(holder, { heldUntil });
  }

  /** @throws Error when the reservation ran out */
  async keepAccount(holder: string, account: KeptAccount): Promise<void> {
    await this.#continue(holder, { account: await this.#sealed('account', JSON.stringify(account)) });
  }

  /** From now on all processes show this proof. @throws Error when the reservation ran out */
  async show(holder: string, keyAuthorization: string): Promise<void> {
    await this.#continue(holder, { keyAuthorization });
  }

  /** @throws Error when the reservation ran out */
  async succeed(
    holder: string,
    { cert, key }: { readonly cert: string; readonly key: string },
    nextAttemptAt: Date,
  ): Promise<void> {
    const issued = { certificate: cert, privateKey: await this.#sealed('privateKey', key) };
    if (!(await this.#transact((unit) => endOrder(unit, this.#options.place, holder, { issued, nextAttemptAt }))))
      throw outrun();
  }

  async fail(holder: string, failure: string, nextAttemptAt: Date): Promise<void> {
    await this.#transact((unit) => endOrder(unit, this.#options.place, holder, { failure, nextAttemptAt }));
  }

  async release(holder: string): Promise<void> {
    await this.#transact((unit) => releaseOrder(unit, this.#options.place, holder));
  }

  async #continue(holder: string, change: Parameters<typeof continueOrder>[3]): Promise<void> {
    if (!(await this.#transact((unit) => continueOrder(unit, this.#options.place, holder, change)))) throw outrun();
  }

  #transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const context = { caller: systemCaller('certificate'), requestId: `certificate-${newId()}` };
    return this.#options.database.transact(context, work);
  }

  async #opened(row: CertificateRow): Promise<KeptCertificate> {
    const { keyAuthorization, failedAttempts, lastFailure, nextAttemptAt, certificate } = row;
    const account = await this.#open('account', row.account);
    const key = await this.#open('privateKey', row.privateKey);
    if (account?.isCurrent === false || key?.isCurrent === false) await this.#reseal(row, account, key);
    return {
      keyAuthorization,
      failedAttempts,
      lastFailure,
      nextAttemptAt,
      account: account && (JSON.parse(account.secret) as KeptAccount),
      issued: key && certificate !== null ? { cert: certificate, key: key.secret } : undefined,
      unreadable: [
        ...(row.account !== null && !account ? ['the key of the account'] : []),
        ...(row.privateKey !== null && !key ? ['the key of the certificate'] : []),
      ],
    };
  }

  async #reseal(row: CertificateRow, account?: { readonly secret: string }, key?: { readonly secret: string }) {
    const next = {
      account: account ? await this.#sealed('account', account.secret) : row.account,
      privateKey: key ? await this.#sealed('privateKey', key.secret) : row.privateKey,
    };
    await this.#transact((unit) => keepResealed(unit, this.#options.place, row, next));
  }

  #sealed(of: Secret, secret: string): Promise<string> {
    return sealSecret(secret, this.#keys(of));
  }

  /** Undefined where there is none, and when no configured key opens it: then it is made anew. */
  async #open(of: Secret, sealed: string | null): Promise<{ secret: string; isCurrent: boolean } | undefined> {
    if (sealed === null) return undefined;
    return openSecret(sealed, this.#keys(of)).catch(() => undefined);
  }

  #keys(of: Secret) {
    const { place, secrets } = this.#options;
    return {
      secrets: secrets(),
      purpose: 'tls-certificate' as const,
      subject: `${of} ${place.authority} ${place.name}`,
    };
  }
}

function outrun(): Error {
  return new Error('another process orders the certificate meanwhile');
}
