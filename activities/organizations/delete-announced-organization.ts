import { callerIn, readMembershipState } from '#entities/kit/access/principal-state.ts';
import { systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { endAnnouncedDeletion, setAnnouncedDeletion } from '#entities/organizations/announced-deletion-rows.ts';
import { noMark } from '#entities/organizations/lifecycle.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import type { AnnouncedOutcome } from '#workflows/organizations/delete-announced.contract.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { deletionTimeoutMs, deleteWithNotice } from './delete-with-notice.ts';

/**
 * Deletes an organization as the owner who announced it would now, with their rights. The rows decide, not the input: an organization that
 * nobody has announced stays.
 */
export async function deleteAnnouncedOrganization(
  database: Database,
  organizationId: string,
): Promise<AnnouncedOutcome> {
  const requestId = `delete-announced-${organizationId}`;
  const system = systemCaller('delete announced organization');
  const decided = await database.transact(workContext(system, requestId), async (unit) => decide(unit, organizationId));
  if (typeof decided === 'string') return decided;
  const context = { ...workContext(decided, requestId), deadline: Date.now() + deletionTimeoutMs };
  await database.transact(context, async (unit) => {
    // Decided again with the organization locked: it may have been withdrawn meanwhile.
    await unit.data.findLocked(organization, organizationId, 'remove');
    const { role } = await readMembershipState(unit, decided.subjectId ?? '', organizationId);
    const data = unit.data.privileged('delete announced organization');
    const settings = await data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
    const { deletionRequesterId, deletionNotBefore } = settings ?? {};
    if (role !== 'owner' || deletionRequesterId !== decided.subjectId)
      throw new Error('somebody has changed it; it is decided again');
    if (!deletionNotBefore || deletionNotBefore > unit.clock.now())
      throw new Error('somebody has moved it; it is decided again');
    await deleteWithNotice(unit, organizationId, data);
    await endAnnouncedDeletion(unit, organizationId);
  });
  return 'deleted';
}

/** @returns the owner who deletes it, or what was done instead */
async function decide(unit: UnitOfWork, organizationId: string): Promise<Caller | AnnouncedOutcome> {
  const { data, clock } = unit;
  const home = await data.findLocked(organization, organizationId);
  const settings = home && (await data.findOne(organizationSetting, { organizationId: { eq: home.id } }));
  const { deletionRequesterId: requesterId, deletionNotBefore: notBefore } = settings ?? {};
  if (!home || !settings || !requesterId || !notBefore) {
    await endAnnouncedDeletion(unit, organizationId);
    return 'none';
  }
  if (notBefore > clock.now()) {
    await setAnnouncedDeletion(unit, organizationId, notBefore);
    return 'postponed';
  }
  const state = await readMembershipState(unit, requesterId, organizationId);
  if (state.role === 'owner') return callerIn(requesterId, organizationId, state, {});
  await data.update(organizationSetting, settings.id, noMark);
  unit.emit(customEvent(organization, 'spared', { ...home, organizationId }, { reason: 'requester_left' }));
  await endAnnouncedDeletion(unit, organizationId);
  return 'spared';
}
