import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { peopleOfDeletion } from '#entities/organizations/deletion-audience-rows.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';

/**
 * Deletes an organization as an owner would. The people whom it notifies are read before: memberships and settings end with it.
 * @param unit of the server, in all organizations; it holds the lock of the organization
 */
export async function deleteUnpaid(unit: UnitOfWork, organizationId: string): Promise<void> {
  const { data } = unit;
  const userIds = await peopleOfDeletion(unit, organizationId);
  const setting = await data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
  await data.remove(organization, organizationId);
  const removal = await data.findOne(organizationRemoval, { removedOrganizationId: { eq: organizationId } });
  if (!removal) throw new Error(`the deletion of ${organizationId} has made no removal`);
  const noticed = await data.update(organizationRemoval, removal.id, { noticeEmail: setting?.billingEmail ?? null });
  unit.emit(customEvent(organizationRemoval, 'announced', noticed, { userIds }));
}
