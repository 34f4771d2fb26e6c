import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Removal } from './define-removal-step.ts';

/** Request id of the work of a removal that no request caused. */
export function removalRequest(removalId: string): string {
  return `remove-organization-${removalId}`;
}

/**
 * The removal, locked until the end of the transaction: what an operator undoes is not removed at the same time.
 * @returns undefined when it is undone
 */
export async function lockRemoval({ data }: Pick<UnitOfWork, 'data'>, removalId: string): Promise<Removal | undefined> {
  const removal = await data.findLocked(organizationRemoval, removalId);
  return removal?.status === 'undoing' ? undefined : removal;
}

/** Records that a step has ended, and with the last one, that the removal is completed. */
export async function endStep(
  { data, clock }: Pick<UnitOfWork, 'data' | 'clock'>,
  removal: Removal,
  { step, isSkipped = false }: { readonly step: string; readonly isSkipped?: boolean },
): Promise<Removal> {
  if (!removal.openSteps.includes(step)) return removal;
  const openSteps = removal.openSteps.filter((name) => name !== step);
  return data.update(organizationRemoval, removal.id, {
    openSteps,
    ...(isSkipped ? { skippedSteps: [...removal.skippedSteps, step] } : {}),
    ...(openSteps.length === 0 ? { status: 'completed', completedAt: clock.now() } : {}),
  });
}
