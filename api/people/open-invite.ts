import { invite, openStatuses } from '#entities/organizations/invite.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** An invitation that nobody has answered, locked; also one that has expired. @throws AppError not_found, rule_violated */
export async function openInvite(unit: UnitOfWork, id: string): Promise<RowOf<typeof invite>> {
  const wanted = existingId(invite, id);
  const held = await unit.data.findLocked(invite, wanted);
  if (!held) throw missingRecord(invite, wanted);
  if (![...openStatuses, 'expired'].includes(held.status))
    throw new AppError('rule_violated', `This invitation is ${held.status}; invite the address once more.`);
  return held;
}
