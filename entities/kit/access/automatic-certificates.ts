import type { Work } from '../storage/work.ts';

/** Which certificate: from which authority (URL of its directory), for which DNS name. */
export interface CertificatePlace {
  readonly authority: string;
  readonly name: string;
}

/** State of a certificate that all processes share. */
export interface CertificateRow {
  /** Encrypted: key and address of the account. */
  readonly account: string | null;
  /** The chain in PEM; null before the first one. */
  readonly certificate: string | null;
  /** Encrypted. */
  readonly privateKey: string | null;
  /** Proof that the authority expects at the moment. */
  readonly keyAuthorization: string | null;
  /** Attempts that failed since the last certificate. */
  readonly failedAttempts: number;
  /** Why the last of them failed, as the end of a sentence about the authority. */
  readonly lastFailure: string | null;
  readonly nextAttemptAt: Date | null;
}

const columns = `account, certificate, private_key as "privateKey", key_authorization as "keyAuthorization",
  failed_attempts as "failedAttempts", last_failure as "lastFailure", next_attempt_at as "nextAttemptAt"`;

/** Undefined before the first order. */
export async function readCertificateRow(
  work: Work,
  { authority, name }: CertificatePlace,
): Promise<CertificateRow | undefined> {
  const [found] = await work.rowsAsSystem<CertificateRow>(
    `select ${columns} from automatic_certificates where authority = $1 and name = $2`,
    [authority, name],
  );
  return found;
}

/**
 * Reserves the order of a certificate until `heldUntil`: of all processes, one orders.
 * @param holder a new id for each attempt: one whose reservation ran out changes nothing any more
 * @returns the row; undefined while another process orders, or before the next attempt is due
 */
export async function holdOrder(
  work: Work,
  { authority, name }: CertificatePlace,
  holder: string,
  heldUntil: Date,
): Promise<CertificateRow | undefined> {
  const [found] = await work.rowsAsSystem<CertificateRow>(
    `insert into automatic_certificates as held (authority, name, held_by, held_until) values ($1, $2, $3, $4)
     on conflict (authority, name) do update set held_by = excluded.held_by, held_until = excluded.held_until, key_authorization = null
       where (held.held_until is null or held.held_until <= $5) and (held.next_attempt_at is null or held.next_attempt_at <= $5)
     returning ${columns}`,
    [authority, name, holder, heldUntil, work.clock.now()],
  );
  return found;
}

/** Columns that may change while an order is under way. */
interface OrderChange {
  readonly heldUntil?: Date;
  readonly account?: string;
  readonly keyAuthorization?: string;
}

/** @returns false when the reservation ran out and somebody else holds it */
export async function continueOrder(
  work: Work,
  { authority, name }: CertificatePlace,
  holder: string,
  { heldUntil, account, keyAuthorization }: OrderChange,
): Promise<boolean> {
  const count = await work.runAsSystem(
    `update automatic_certificates set held_until = coalesce($4, held_until), account = coalesce($5, account),
       key_authorization = coalesce($6, key_authorization)
     where authority = $1 and name = $2 and held_by = $3`,
    [authority, name, holder, heldUntil ?? null, account ?? null, keyAuthorization ?? null],
  );
  return count === 1;
}

/** How an order ended: with a certificate, whose key is encrypted, or with the reason why there is none. */
interface OrderEnd {
  readonly issued?: { readonly certificate: string; readonly privateKey: string };
  readonly failure?: string;
  readonly nextAttemptAt: Date;
}

/** Ends an order and its reservation. @returns false when the reservation ran out: nothing is kept */
export async function endOrder(
  work: Work,
  { authority, name }: CertificatePlace,
  holder: string,
  { issued, failure, nextAttemptAt }: OrderEnd,
): Promise<boolean> {
  const count = await work.runAsSystem(
    `update automatic_certificates set held_by = null, held_until = null, key_authorization = null, next_attempt_at = $4,
       certificate = coalesce($5, certificate), private_key = coalesce($6, private_key),
       failed_attempts = case when $5::text is null then failed_attempts + 1 else 0 end, last_failure = $7
     where authority = $1 and name = $2 and held_by = $3`,
    [authority, name, holder, nextAttemptAt, issued?.certificate ?? null, issued?.privateKey ?? null, failure ?? null],
  );
  return count === 1;
}

/** Gives a reservation back when its process stops: the order is left to another one. */
export async function releaseOrder(work: Work, { authority, name }: CertificatePlace, holder: string): Promise<void> {
  await work.runAsSystem(
    `update automatic_certificates set held_by = null, held_until = null, key_authorization = null
     where authority = $1 and name = $2 and held_by = $3`,
    [authority, name, holder],
  );
}

/** Keeps secrets that were encrypted with the newest key, unless somebody replaced them meanwhile. */
export async function keepResealed(
  work: Work,
  { authority, name }: CertificatePlace,
  former: Pick<CertificateRow, 'account' | 'privateKey'>,
  next: Pick<CertificateRow, 'account' | 'privateKey'>,
): Promise<void> {
  await work.runAsSystem(
    `update automatic_certificates set account = $5, private_key = $6
     where authority = $1 and name = $2 and account is not distinct from $3 and private_key is not distinct from $4`,
    [authority, name, former.account, former.privateKey, next.account, next.privateKey],
  );
}
