import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { peopleOfDeletion } from '#entities/organizations/deletion-audience-rows.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';

/** Longest deletion of an organization, in milliseconds: one of 20,000 members takes ten seconds, and a request has less time. */
export const deletionTimeoutMs = 25_000;

/**
 * Deletes an organization, and notifies the people who manage it, except the one who has deleted it. They are read before: memberships and
 * settings end with it.
 * @param unit its caller deletes; it holds the lock of the organization
 * @param data the server's, in all organizations
 */
export async function deleteWithNotice(
  unit: UnitOfWork,
  organizationId: string,
  data: Pick<UnitOfWork['data'], 'findOne' | 'update'> = unit.data,
): Promise<void> {
  const userIds = await peopleOfDeletion(unit, organizationId);
  const setting = await data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
  await unit.data.remove(organization, organizationId);
  const removal = await data.findOne(organizationRemoval, { removedOrganizationId: { eq: organizationId } });
  if (!removal) throw new Error(`the deletion of ${organizationId} has made no removal`);
  const noticed = await data.update(organizationRemoval, removal.id, { noticeEmail: setting?.billingEmail ?? null });
  const others = userIds.filter((userId) => userId !== removal.requesterId);
  unit.emit(customEvent(organizationRemoval, 'announced', noticed, { userIds: others }));
}
