import { newId } from '../base/ids.ts';
import type { Work } from '../storage/work.ts';

/** That somebody operates the installation, or did. */
export interface OperatorGrant {
  readonly userId: string;
  readonly grantedAt: Date;
  readonly grantedBy: string;
  readonly grantReason: string;
  /** Null while it is valid. */
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  readonly revokeReason: string | null;
}

/** The operator who grants or revokes (login and host name of their machine), and the reason. */
interface OperatorChange {
  readonly userId: string;
  readonly by: string;
  readonly reason: string;
}

export async function isOperator(work: Work, userId: string): Promise<boolean> {
  const rows = await work.rowsAsSystem('select 1 from operators where user_id = $1 and revoked_at is null', [userId]);
  return rows.length > 0;
}

/** @returns false for somebody who is an operator already */
export async function grantOperator(work: Work, { userId, by, reason }: OperatorChange): Promise<boolean> {
  const rows = await work.rowsAsSystem(
    `insert into operators (id, user_id, granted_at, granted_by, grant_reason) values ($1, $2, $3, $4, $5)
     on conflict (user_id) where revoked_at is null do nothing returning 1`,
    [newId(), userId, work.clock.now(), by, reason],
  );
  return rows.length > 0;
}

/** @returns false for somebody who is no operator */
export async function revokeOperator(work: Work, { userId, by, reason }: OperatorChange): Promise<boolean> {
  const rows = await work.rowsAsSystem(
    `update operators set revoked_at = $2, revoked_by = $3, revoke_reason = $4 where user_id = $1 and revoked_at is null returning 1`,
    [userId, work.clock.now(), by, reason],
  );
  return rows.length > 0;
}

/** Everybody who operates the installation or did, the latest first. */
export function listOperators(work: Work, limit: number): Promise<OperatorGrant[]> {
  return work.rowsAsSystem<OperatorGrant>(
    `select user_id as "userId", granted_at as "grantedAt", granted_by as "grantedBy", grant_reason as "grantReason",
       revoked_at as "revokedAt", revoked_by as "revokedBy", revoke_reason as "revokeReason"
     from operators order by granted_at desc, id desc limit $1`,
    [limit],
  );
}
