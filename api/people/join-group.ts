import { groupJoinRequest } from '#entities/groups/group-join-request.ts';
import { groupMembership } from '#entities/groups/group-membership.ts';
import { groupSetting } from '#entities/groups/group-setting.ts';
import { group } from '#entities/groups/group.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from '../credentials/asking.ts';
import { signedInPerson } from '../credentials/signed-in-person.ts';

type Group = RowOf<typeof group>;
type Request = RowOf<typeof groupJoinRequest>;

/** Result of a request to join a group. */
export interface Joining {
  readonly groupId: string;
  readonly status: 'joined' | 'requested';
  /** Of the pending request; null for a person who has joined. */
  readonly requestId: string | null;
}

/** An open request as managers of its group see it. */
export type OpenRequest = Pick<Request, 'id' | 'userId' | 'message' | 'createdAt'>;

/** Requests that are listed at once; the oldest come first, and others follow when these are answered. */
export const maxListed = 100;

const byInvitation = 'People join this group by invitation only. Ask one of its managers to add you.';
const isManaged = 'The group is managed by the server: its members follow their roles in the organization.';

/**
 * Joins a group that the person sees, or asks its managers, as `joinPolicy` of its settings says; a group without settings is joined by
 * invitation.
 * @throws AppError not_found, permission_denied, already_exists
 */
export async function joinGroup(asking: Asking, wanted: string, message: string | null): Promise<Joining> {
  const { unit } = asking;
  const { userId } = signedInPerson(asking);
  const { id: groupId, organizationId } = await unit.data.get(group, existingId(group, wanted));
  const data = unit.data.privileged('join group');
  // A change of the settings or the deletion of the group comes before or after.
  const held = await data.findLocked(group, groupId);
  if (!held) throw missingRecord(group, wanted);
  if (held.managedAs !== null) throw new AppError('permission_denied', isManaged);
  if (await data.findOne(groupMembership, { groupId: { eq: groupId }, userId: { eq: userId } }))
    throw new AppError('already_exists', 'You are in this group already.');
  const settings = await data.findOne(groupSetting, { groupId: { eq: groupId } });
  if (settings?.joinPolicy === 'open') {
    await data.create(groupMembership, { organizationId, groupId, userId });
    return { groupId, status: 'joined', requestId: null };
  }
  if (settings?.joinPolicy !== 'apply') throw new AppError('permission_denied', byInvitation);
  const { id: requestId } = await data.create(groupJoinRequest, { organizationId, groupId, userId, message });
  unit.emit(customEvent(group, 'join_requested', held, { requestId, userId }));
  return { groupId, status: 'requested', requestId };
}

/** The pending requests to join a group, for its managers. @throws AppError not_found, permission_denied */
export async function openRequests(asking: Asking, wanted: string): Promise<readonly OpenRequest[]> {
  const { unit } = asking;
  const held = await unit.data.get(group, existingId(group, wanted));
  await requireManager(asking, held);
  return unit.data.privileged('list join requests').find(groupJoinRequest, {
    where: { groupId: { eq: held.id }, status: { eq: 'pending' } },
    orderBy: [{ field: 'createdAt', direction: 'asc' }],
    limit: maxListed,
  });
}

/**
 * Answers a request, as a manager of its group. The caller's own rights decide at this moment, and whether the person is still a member of the organization.
 * @throws AppError not_found, permission_denied, rule_violated
 */
export async function decideRequest(asking: Asking, id: string, status: 'accepted' | 'declined'): Promise<Group> {
  const { unit } = asking;
  const { userId: deciderId } = signedInPerson(asking);
  const data = unit.data.privileged('decide join request');
  const found = await data.findOne(groupJoinRequest, { id: { eq: existingId(groupJoinRequest, id) } });
  const held = found && (await unit.data.findLocked(group, found.groupId));
  if (!found || !held) throw missingRecord(groupJoinRequest, id);
  const isSeen = (await unit.data.findOne(groupJoinRequest, { id: { eq: found.id } })) !== undefined;
  if (!isSeen && !(await isManager(asking, held))) throw missingRecord(groupJoinRequest, id);
  await requireManager(asking, held);
  const { userId } = await lockedPending(asking, found.id);
  const isMember = { groupId: { eq: held.id }, userId: { eq: userId } };
  if (status === 'accepted' && !(await data.findOne(groupMembership, isMember)))
    await unit.data.create(groupMembership, { groupId: held.id, userId });
  await data.update(groupJoinRequest, found.id, { status, deciderId });
  unit.emit(customEvent(group, 'join_decided', held, { requestId: found.id, userId, status }));
  return held;
}

/** Withdraws one's own request. @throws AppError not_found, permission_denied, rule_violated */
export async function withdrawRequest(asking: Asking, id: string): Promise<Request> {
  const { unit } = asking;
  const { userId } = signedInPerson(asking);
  const found = await unit.data.get(groupJoinRequest, existingId(groupJoinRequest, id));
  if (found.userId !== userId)
    throw new AppError('permission_denied', 'Only the person who asked can withdraw a request; decline it instead.');
  await lockedPending(asking, found.id);
  return unit.data.privileged('withdraw join request').update(groupJoinRequest, found.id, { status: 'withdrawn' });
}

/** A request that nobody has answered, locked. @throws AppError not_found, rule_violated */
async function lockedPending({ unit }: Asking, id: string): Promise<Request> {
  const held = await unit.data.privileged('lock join request').findLocked(groupJoinRequest, id);
  if (!held) throw missingRecord(groupJoinRequest, id);
  if (held.status !== 'pending')
    throw new AppError(
      'rule_violated',
      `This request is ${held.status}; only pending requests can be answered or withdrawn.`,
    );
  return held;
}

async function isManager({ unit }: Asking, held: Group): Promise<boolean> {
  return (await unit.data.decide(group, 'edit', { ...held })).isAllowed;
}

/** @throws AppError permission_denied for people who do not manage the group */
async function requireManager(asking: Asking, held: Group): Promise<void> {
  if (await isManager(asking, held)) return;
  const denied = { operation: 'edit', caller: asking.unit.context.caller, row: { ...held } } as const;
  throw new AppError('permission_denied', deniedMessage(group, denied));
}
