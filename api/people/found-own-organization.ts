import { user } from '#entities/identity/user.ts';
import type { organization } from '#entities/organizations/organization.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { foundOrganization } from './found-organization.ts';

export interface NewOrganization {
  readonly name: string;
  readonly displayName?: string | null;
  readonly description?: string | null;
}

/**
 * Creates an organization for the caller, who becomes its owner. Every signed-in person may.
 * @throws AppError permission_denied, invalid_input, already_exists
 */
export async function foundOwnOrganization(
  unit: UnitOfWork,
  input: NewOrganization,
): Promise<RowOf<typeof organization>> {
  const { kind, subjectId } = unit.context.caller;
  if (kind !== 'user' || subjectId === null)
    throw new AppError('permission_denied', 'Only users can create organizations; sign in first.');
  const data = unit.data.privileged('create organization');
  return foundOrganization(data, { ...input, founderId: subjectId }, await data.get(user, subjectId));
}
