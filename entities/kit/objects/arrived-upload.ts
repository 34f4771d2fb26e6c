import type { Work } from '../storage/work.ts';
import type { Location } from './stored-object.ts';
import type { UploadOwner } from './upload-owner.ts';
import type { DeclaredFile, UploadState } from './upload-rows.ts';

interface ArrivedUpload {
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
  const [row] = await work.rowsAsSystem<
    Location &
      UploadOwner & { readonly declared: DeclaredFile; readonly purpose: string | null; readonly state: UploadState }
  >(
    `select o.provider, o.bucket, o.region, o.key, u.actor, u.organization_id as "organizationId", u.declared, u.purpose, u.state
     from uploads u join stored_objects o on o.id = u.object_id
     where u.id = $1 and (u.state in ('ready', 'used') or (u.state = 'arrived' and u.expires_at > $2))`,
    [uploadId, work.clock.now()],
  );
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
