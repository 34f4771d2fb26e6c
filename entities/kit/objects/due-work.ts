import type { Work } from '../storage/work.ts';
import type { Location, ProviderName } from './stored-object.ts';
import type { UploadOwner } from './upload-owner.ts';
import type { DeclaredFile, UploadState } from './upload-rows.ts';

/** Time after which work that was taken but has not ended is due again, in milliseconds. */
const leaseMs = 5 * 60_000;

/**
 * Takes objects whose copy is due. They are due again after five minutes, unless their copy has been verified by then, so nothing is lost
 * with the process that took them. Concurrent claims take different objects.
 * @param providers those whose objects are copied
 * @returns ids of objects
 */
export async function claimDueCopies(work: Work, providers: readonly ProviderName[], limit: number): Promise<string[]> {
  const now = work.clock.now();
  const session = await work.readAs('system');
  const { rows } = await session.query<{ id: string }>(
    `update stored_objects held set copy_due_at = $2
     from (select id from stored_objects
       where copy_due_at <= $1 and state = 'owned' and provider = any($3)
       order by copy_due_at, id limit $4 for update skip locked) as due
     where held.id = due.id returning held.id`,
    [now, new Date(now.getTime() + leaseMs), providers, limit],
  );
  return rows.map(({ id }) => id);
}

/** Takes uploads whose bytes have all arrived and are to be checked, in the same way. @returns ids of uploads */
export async function claimDueChecks(work: Work, limit: number): Promise<string[]> {
  const now = work.clock.now();
  const session = await work.readAs('system');
  const { rows } = await session.query<{ id: string }>(
    `update uploads held set check_due_at = $2
     from (select id from uploads where state = 'arrived' and check_due_at <= $1
       order by check_due_at, id limit $3 for update skip locked) as due
     where held.id = due.id returning held.id`,
    [now, new Date(now.getTime() + leaseMs), limit],
  );
  return rows.map(({ id }) => id);
}

/** An upload whose bytes have all arrived. */
export interface ArrivedUpload {
  readonly location: Location;
  readonly owner: UploadOwner;
  readonly declared: DeclaredFile;
  /** The field that it is meant for (`UploadPurpose`). */
  readonly purpose: string | null;
  /** Its bytes are known already; only what arrived has to be removed. */
  readonly isChecked: boolean;
}

/** @returns undefined for an upload that was given up, has expired, or lacks bytes */
export async function readArrived(work: Work, uploadId: string): Promise<ArrivedUpload | undefined> {
  const session = await work.readAs('system');
  const { rows } = await session.query<
    Location &
      UploadOwner & { readonly declared: DeclaredFile; readonly purpose: string | null; readonly state: UploadState }
  >(
    `select o.provider, o.bucket, o.region, o.key, u.actor, u.organization_id as "organizationId", u.declared, u.purpose, u.state
     from uploads u join stored_objects o on o.id = u.object_id
     where u.id = $1 and (u.state in ('ready', 'used') or (u.state = 'arrived' and u.expires_at > $2))`,
    [uploadId, work.clock.now()],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { actor, organizationId, declared, purpose, state, provider, bucket, region, key } = row;
  return {
    location: { provider, bucket, region, key },
    owner: { actor, organizationId },
    declared,
    purpose,
    isChecked: state !== 'arrived',
  };
}
