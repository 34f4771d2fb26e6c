import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { foundOrganization } from './found-organization.ts';

export interface NewOrganization {
  readonly name: string;
  readonly displayName?: string | null;
  readonly description?: string | null;
  /** The caller manages it. */
  readonly parentId?: string | null;
}

/**
 * Creates an organization for the caller, who becomes its owner. Every signed-in person may; one below another, whoever may edit that one.
 * @param parentField path of the field that names the parent, for the errors
 * @throws AppError not_found, permission_denied, organization_archived, invalid_input, already_exists
 */
export async function foundOwnOrganization(
  unit: UnitOfWork,
  { parentId = null, ...input }: NewOrganization,
  parentField: string,
): Promise<RowOf<typeof organization>> {
  const { kind, subjectId } = unit.context.caller;
  if (kind !== 'user' || subjectId === null)
    throw new AppError('permission_denied', 'Only users can create organizations; sign in first.');
  if (parentId !== null) {
    const id = existingId(organization, parentId);
    await unit.data.checkTargets([
      { module: organization, field: 'parentId', id, organizationId: null, path: parentField },
    ]);
  }
  const data = unit.data.privileged('create organization');
  return foundOrganization(data, { ...input, parentId, founderId: subjectId }, await data.get(user, subjectId));
}
