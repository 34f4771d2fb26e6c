import { groupJoinRequest } from '#entities/groups/group-join-request.ts';
import { group } from '#entities/groups/group.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import { missingRecord } from '#entities/kit/model/missing-record.ts';
import type { Asking } from '../credentials/asking.ts';

type Group = RowOf<typeof group>;

/** A request that nobody has answered, locked. @throws AppError not_found, rule_violated */
export async function lockedPendingRequest({ unit }: Asking, id: string): Promise<RowOf<typeof groupJoinRequest>> {
  const held = await unit.data.privileged('lock join request').findLocked(groupJoinRequest, id);
  if (!held) throw missingRecord(groupJoinRequest, id);
  if (held.status !== 'pending')
    throw new AppError(
      'rule_violated',
      `This request is ${held.status}; only pending requests can be answered or withdrawn.`,
    );
  return held;
}

export async function isGroupManager({ unit }: Asking, held: Group): Promise<boolean> {
  return (await unit.data.decide(group, 'edit', { ...held })).isAllowed;
}

/** @throws AppError permission_denied for people who do not manage the group */
export async function requireGroupManager(asking: Asking, held: Group): Promise<void> {
  if (await isGroupManager(asking, held)) return;
  const denied = { operation: 'edit', caller: asking.unit.context.caller, row: { ...held } } as const;
  throw new AppError('permission_denied', deniedMessage(group, denied));
}
