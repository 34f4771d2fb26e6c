import { actorOf, type Caller } from '../model/caller.ts';

/** Caller who uploads, and the organization: nobody else can name the upload, and no record of another organization can have the file. */
export interface UploadOwner {
  readonly actor: string;
  readonly organizationId: string | null;
}

/** Somebody who acts as another person is not that person: neither attaches what the other one has uploaded. */
export function uploadOwnerOf(caller: Caller): UploadOwner {
  return { actor: actorOf(caller), organizationId: caller.organizationId };
}

/** The owner as the functions of the database take it. */
export function ownerColumns({ actor, organizationId }: UploadOwner): Readonly<Record<string, string | null>> {
  return { actor, organization_id: organizationId };
}
