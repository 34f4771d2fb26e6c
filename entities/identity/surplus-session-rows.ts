import type { Work } from '../kit/storage/work.ts';

/** Numbers of sessions of a person that may continue beside the one that begins. */
interface SessionLimits {
  /** With one single sign-on, or without any. */
  readonly alike: number;
  /** With all single sign-ons together. */
  readonly singleSignOns: number;
}

/**
 * Finds the sessions of a person that end when another begins: those that have expired, and of each limit those that were used longest
 * ago. Nearly always none of them ends, which their number and the earliest end show with less work.
 * @param singleSignOnId of the session that begins; null for other ways to sign in
 * @returns ids, at most as many as one operation can remove
 */
export async function surplusSessions(
  work: Work,
  { userId, singleSignOnId }: { readonly userId: string; readonly singleSignOnId: string | null },
  limits: SessionLimits,
): Promise<string[]> {
  const now = work.clock.now();
  const counted = await work.rowsAsSystem<{ readonly may_end: boolean }>(
    `select count(*) > $3 or coalesce(bool_or(expires_at <= $2), false) as may_end
     from sessions where user_id = $1 and deleted_at is null`,
    [userId, now, Math.min(limits.alike, limits.singleSignOns)],
  );
  if (!counted[0]?.may_end) return [];
  const rows = await work.rowsAsSystem<{ id: string }>(
    `select id from (
       select id, expires_at, single_sign_on_id, last_seen_at,
         row_number() over (partition by single_sign_on_id order by last_seen_at desc, id) as alike,
         row_number() over (partition by single_sign_on_id is null order by last_seen_at desc, id) as together
       from sessions where user_id = $1 and deleted_at is null) held
     where expires_at <= $2 or (single_sign_on_id is not distinct from $3 and alike > $4)
       or (single_sign_on_id is not null and together > $5)
     order by last_seen_at limit 1000`,
    [userId, now, singleSignOnId, limits.alike, limits.singleSignOns],
  );
  return rows.map(({ id }) => id);
}
