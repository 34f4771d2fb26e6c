import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { noMark, sparingReason } from '#entities/organizations/lifecycle.ts';
import { lifecycleFacts, type LifecycleRow } from '#entities/organizations/lifecycle-rows.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';

/**
 * Takes back the mark of an organization for which somebody pays now, in the transaction that records it. The mark of an owner who has
 * announced the deletion stays. The caller holds the lock of the organization.
 */
export async function spareIfPaid(unit: UnitOfWork, organizationId: string): Promise<void> {
  const now = unit.clock.now();
  const facts = await lifecycleFacts(unit, organizationId, { now, exemptDomains: [] });
  if (!facts || facts.markedForDeletionAt === null || facts.deletionRequesterId !== null) return;
  await spare(unit, facts, now);
}

/** Takes back a mark, if something says so. */
export async function spare(unit: UnitOfWork, facts: LifecycleRow, now: Date): Promise<void> {
  const reason = sparingReason(facts, now);
  if (!reason) return;
  await unit.data.update(organizationSetting, facts.settingsId ?? '', noMark);
  unit.emit(customEvent(organization, 'spared', facts, { reason }));
}
