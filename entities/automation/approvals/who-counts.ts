import { user } from '../../identity/user.ts';
import { readMembershipStates } from '../../kit/access/membership-states.ts';
import { callerIn } from '../../kit/access/principal-state.ts';
import { makerOfToken } from '../asked-people-rows.ts';
import { keptChangeOf } from '../kept-change.ts';
import type { ApprovalWork, Instance, LockedInstance } from './approval-work.ts';
import type { AskingAction } from './asking-action.ts';
import type { Asked } from '../outcome.ts';
import { managersOf, peopleOf } from './targets.ts';

/** A change about which people are asked. */
export interface AskedChange extends Pick<LockedInstance, 'module' | 'record' | 'held'> {
  readonly instance: Pick<Instance, 'organizationId' | 'subjectId' | 'initiatorId' | 'initiatorTokenId' | 'context'>;
}

/**
 * The people of some assignments of an action whose decision is valid now. The one place that says so: it is asked when somebody is asked,
 * when somebody decides, and when a change is applied.
 */
export async function whoCounts(
  work: ApprovalWork,
  locked: LockedInstance,
  action: AskingAction,
  asked: readonly Pick<Asked, 'userId' | 'source' | 'onBehalfOfId'>[],
): Promise<ReadonlySet<string>> {
  const people = asked.flatMap(({ userId, onBehalfOfId }) =>
    onBehalfOfId === null ? [userId] : [userId, onBehalfOfId],
  );
  const eligible = await eligibleOf(work, locked, people);
  const targets = await peopleOf(work, locked, action.targets);
  const isEscalated = asked.some(({ source }) => source === 'escalated');
  const added = isEscalated ? await escalationOf(work, locked, action) : new Set<string>();
  const isNamed = ({ userId, source }: Pick<Asked, 'userId' | 'source'>) =>
    source === 'reassigned' ||
    (source === 'target' ? targets.has(userId) : source === 'escalated' && added.has(userId));
  const holders = asked.filter((one) => one.onBehalfOfId === null && isNamed(one) && eligible.has(one.userId));
  // Delegates have the place of somebody who could decide, and lose it together with that person.
  const places = new Set(holders.map(({ userId }) => userId));
  const delegates = asked.filter(
    ({ onBehalfOfId, userId }) => onBehalfOfId !== null && places.has(onBehalfOfId) && eligible.has(userId),
  );
  return new Set([...holders, ...delegates].map(({ userId }) => userId));
}

/** People who are added when a deadline passes or nobody can decide. */
export async function escalationOf(
  work: ApprovalWork,
  locked: AskedChange,
  { escalateTo }: Pick<AskingAction, 'escalateTo'>,
): Promise<ReadonlySet<string>> {
  const named =
    escalateTo === undefined ? [] : await eligibleOf(work, locked, await peopleOf(work, locked, escalateTo));
  const found = [...named];
  return found.length > 0 ? new Set(found) : eligibleOf(work, locked, await managersOf(work, locked));
}

/** Those of some people who are active members, may view the record, and have not made the change themselves. */
export async function eligibleOf(
  work: ApprovalWork,
  locked: AskedChange,
  userIds: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const authors = await authorsOf(work, locked);
  return viewersOf(
    work,
    locked,
    [...userIds].filter((id) => !authors.has(id)),
  );
}

/** A record of an organization; undefined if it is deleted. */
interface ViewedRecord extends Pick<LockedInstance, 'module' | 'record'> {
  readonly instance: Pick<Instance, 'organizationId' | 'subjectId'>;
}

/** Those of some people who are active members and may view the record of a workflow; of a deleted one, all members among them. */
export async function viewersOf(
  work: ApprovalWork,
  { instance: { organizationId, subjectId }, module, record }: ViewedRecord,
  userIds: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(userIds)];
  if (ids.length === 0) return new Set();
  const active = await work.data.find(user, {
    where: { id: { in: ids }, status: { eq: 'active' } },
    limit: ids.length,
  });
  const states = await readMembershipStates(
    work.unit,
    active.map(({ id }) => id),
    organizationId,
  );
  const callers = [...states].flatMap(([id, state]) =>
    state.role === null ? [] : [callerIn(id, organizationId, state, {})],
  );
  // Nobody can view a record that is deleted: its deletion is reviewed by members.
  if (!record) return new Set(callers.map(({ subjectId: id }) => id as string));
  const viewings = callers.map((caller) => ({ caller, ids: [subjectId] }));
  const viewed = await work.data.viewedByEach(module, viewings);
  return new Set(callers.flatMap(({ subjectId: id }, n) => (viewed[n]?.has(subjectId) && id !== null ? [id] : [])));
}

/** The people who made the change: nobody approves their own. */
export async function authorsOf(
  { unit }: ApprovalWork,
  { instance, record, held }: AskedChange,
): Promise<ReadonlySet<string>> {
  const { initiatorId, initiatorTokenId } = instance;
  const proposal = held?.proposal;
  const tokenId = proposal?.submitterTokenId ?? initiatorTokenId;
  // A program acts for whoever made its token. Deleting the token does not make them somebody else.
  const maker = tokenId === null ? undefined : await makerOfToken(unit, tokenId);
  // The actor of a change names whoever acted as the initiator, also after others have edited the record.
  const edited = held
    ? [proposal?.createdBy, proposal?.updatedBy]
    : [keptChangeOf(instance).actor, record?.['updatedBy']];
  const named = [initiatorId, proposal?.submitterId].filter((id) => typeof id === 'string');
  return new Set([...named, ...[maker, ...edited].flatMap((actor) => peopleOfActor(actor))]);
}

/** All people of an actor (`actorOf`): the person, and whoever acts as them. */
function peopleOfActor(actor: unknown): string[] {
  return typeof actor === 'string' ? Array.from(actor.matchAll(/user:(\S+)/g), ([, id = '']) => id) : [];
}
