import { customEvent } from '../../kit/write/custom-events.ts';
import { workflowAssignment } from '../workflow-assignment.ts';
import { workflowInstance } from '../workflow-instance.ts';
import type { ApprovalWork, Assignment, LockedInstance } from './approval-work.ts';
import type { AskingAction } from './asking-action.ts';
import { askedStatesOf, contextWith, dueAtOf, isOverdue, passedDeadlines, type AskedState } from './asked-state.ts';
import { assignmentsOf, cancelAssignments, cancelPending, createAssignments } from './assignments.ts';
import { journal } from './journal.ts';
import { outcomeOf, type ActionOutcome } from '../outcome.ts';
import { peopleOf } from './targets.ts';
import { eligibleOf, escalationOf, whoCounts } from './who-counts.ts';

/** Result of a step: the workflow waits for people until a time, or continues, or ends. */
export type ApprovalStep =
  | { readonly is: 'waiting'; readonly wakeAt: Date | null; readonly reason: string | null }
  | { readonly is: 'satisfied' }
  | { readonly is: 'rejected'; readonly code: RejectionCode; readonly reason: string }
  /** The record or its proposal is deleted, or the proposal has ended. */
  | { readonly is: 'gone' };

export type RejectionCode = 'rejected' | 'overdue' | 'out_of_reach';

/** Between two looks for people who can decide, while there is nobody or nobody can be added. */
const lookAgainMs = 3_600_000;

/**
 * Brings actions that ask people up to date, and says whether the workflow continues. It can be repeated: it asks who was not asked yet,
 * closes assignments of people who may not decide any more, reminds, adds people after a deadline, and counts.
 * @param actions that run side by side
 * @param isWritten the change is written: people review it. Else it is held, and they decide about it.
 */
export async function stepApprovals(
  work: ApprovalWork,
  locked: LockedInstance,
  actions: readonly AskingAction[],
  isWritten: boolean,
): Promise<ApprovalStep> {
  const { instance, record, held } = locked;
  if (!record && !(isWritten && instance.trigger === 'delete')) return { is: 'gone' };
  if (!isWritten) {
    if (held?.proposal?.status === 'draft') return { is: 'waiting', wakeAt: null, reason: 'The change is a draft.' };
    if (held?.proposal?.status !== 'submitted') return { is: 'gone' };
  }
  const now = work.unit.clock.now();
  await cancelPending(work, locked, 'A new round has begun.', ({ round }) => round !== instance.round);
  const states = new Map<string, AskedState>(Object.entries(askedStatesOf(instance)));
  for (const action of actions) states.set(action.key, await stepAction(work, locked, action, states.get(action.key)));
  const known = Object.fromEntries(states);
  const passed = passedDeadlines(actions, known, now);
  const asked = await assignmentsOf(work, locked);
  const counted = outcomeOf(actions, asked, passed);
  await closeDecided(work, locked, asked, counted);
  await work.data.update(workflowInstance, instance.id, { context: contextWith(instance, known) });
  if (counted.outcome === 'satisfied') return { is: 'satisfied' };
  if (counted.outcome === 'rejected') return rejectionOf(actions, asked, counted.actions, passed);
  const open = asked.filter(({ status }) => status === 'pending');
  return {
    is: 'waiting',
    wakeAt: nextWake(actions, open, known, counted.actions, now),
    reason: waitReason(counted.outcome),
  };
}

/** Asks, closes, reminds and escalates for one action. @returns its facts afterwards */
async function stepAction(
  work: ApprovalWork,
  locked: LockedInstance,
  action: AskingAction,
  known: AskedState | undefined,
): Promise<AskedState> {
  const now = work.unit.clock.now();
  let state = known ?? { round: locked.instance.round, askedAt: now.toISOString() };
  const dueAt = dueAtOf(action, state);
  if (!known) {
    const details = { round: locked.instance.round, ...(dueAt && { dueAt: dueAt.toISOString() }) };
    await journal(work, locked.instance, 'round_started', { actionKey: action.key, details });
  }
  const asked = await closeUncounted(work, locked, action);
  if (passedDeadlines([action], { [action.key]: state }, now)[action.key]) return state;
  const { outcome } = countOf(action, asked);
  const isShort = outcome === 'rejected' && !asked.some(({ status }) => status === 'rejected');
  if (outcome === 'unattended' || isShort) state = await askSomebody(work, locked, action, state, asked);
  else if (outcome === 'pending' && isOverdue(action, state, now) && state.escalatedAt === undefined)
    state = await escalate(work, locked, action, state, asked);
  else if (state.unattendedSince !== undefined) {
    const { unattendedSince: _, ...attended } = state;
    state = attended;
  }
  if (outcome === 'pending') await remind(work, locked, action, asked);
  return state;
}

/** Whether a deadline has passed without anybody who could be added. */
function lacksEscalation(action: AskingAction, state: AskedState | undefined, now: Date): boolean {
  return action.onDue === 'ESCALATE' && isOverdue(action, state, now) && state?.escalatedAt === undefined;
}

function countOf(action: AskingAction, asked: readonly Assignment[]): ActionOutcome {
  const { actions } = outcomeOf([action], asked);
  return actions[0] as ActionOutcome;
}

/** Closes the assignments of people whose decision is not valid any more. @returns the assignments of the action afterwards */
async function closeUncounted(
  work: ApprovalWork,
  locked: LockedInstance,
  action: AskingAction,
): Promise<readonly Assignment[]> {
  const ofAction = ({ actionKey }: Assignment) => actionKey === action.key;
  const asked = (await assignmentsOf(work, locked)).filter(ofAction);
  const valid = await whoCounts(work, locked, action, asked);
  const lost = asked.filter(({ status, userId }) => status !== 'cancelled' && !valid.has(userId));
  await cancelAssignments(work, locked, lost, 'The person may not decide any more.');
  return lost.length === 0 ? asked : (await assignmentsOf(work, locked)).filter(ofAction);
}

/**
 * Asks the targets who are not asked, because there are too few people to decide; if nobody is asked then, those who are asked instead.
 * Without anybody it says so, once.
 */
async function askSomebody(
  work: ApprovalWork,
  locked: LockedInstance,
  action: AskingAction,
  state: AskedState,
  asked: readonly Assignment[],
): Promise<AskedState> {
  const now = work.unit.clock.now();
  const dueAt = dueAtOf(action, state);
  const { unattendedSince, ...attended } = state;
  const targets = await eligibleOf(work, locked, await peopleOf(work, locked, action.targets));
  const live = livePeople(asked);
  const added = [...targets].filter((id) => !live.has(id));
  await createAssignments(work, locked, action, added, { source: 'target', isAdded: false, onBehalfOfId: null, dueAt });
  if (live.size + added.length > 0) return attended;
  const escalated = await escalate(work, locked, action, attended, []);
  if (escalated !== attended) return escalated;
  if (unattendedSince !== undefined) return state;
  work.unit.emit(customEvent(workflowInstance, 'unattended', locked.instance, { actionKey: action.key }));
  return { ...attended, unattendedSince: now.toISOString() };
}

/** Adds people who are asked as well. @returns the same facts if there is nobody to add */
async function escalate(
  work: ApprovalWork,
  locked: LockedInstance,
  action: AskingAction,
  state: AskedState,
  asked: readonly Assignment[],
): Promise<AskedState> {
  const live = livePeople(asked);
  const added = [...(await escalationOf(work, locked, action))].filter((id) => !live.has(id));
  if (added.length === 0) return state;
  const asking = { source: 'escalated', isAdded: true, onBehalfOfId: null, dueAt: null } as const;
  await createAssignments(work, locked, action, added, asking);
  await journal(work, locked.instance, 'escalated', { actionKey: action.key, details: { people: added.length } });
  return { ...state, escalatedAt: work.unit.clock.now().toISOString() };
}

function livePeople(asked: readonly Assignment[]): ReadonlySet<string> {
  return new Set(asked.flatMap(({ status, userId }) => (status === 'cancelled' ? [] : [userId])));
}

function remindAtOf({ remindAfterMs }: AskingAction, { createdAt, remindedAt }: Assignment): Date | null {
  return remindAfterMs === undefined || remindedAt !== null ? null : new Date(createdAt.getTime() + remindAfterMs);
}

async function remind(
  work: ApprovalWork,
  { instance }: LockedInstance,
  action: AskingAction,
  asked: readonly Assignment[],
): Promise<void> {
  const now = work.unit.clock.now();
  for (const assignment of asked) {
    const remindAt = remindAtOf(action, assignment);
    if (assignment.status !== 'pending' || remindAt === null || remindAt > now) continue;
    const reminded = await work.data.update(workflowAssignment, assignment.id, { remindedAt: now });
    work.unit.emit(customEvent(workflowAssignment, 'reminded', reminded, {}));
    await journal(work, instance, 'reminded', { actionKey: action.key, personId: assignment.userId });
  }
}

/** Closes what is open of actions that are decided, and of all of them when one rejects. */
async function closeDecided(
  work: ApprovalWork,
  locked: LockedInstance,
  asked: readonly Assignment[],
  { outcome, actions }: ReturnType<typeof outcomeOf>,
): Promise<void> {
  const isOver = (key: string) =>
    outcome === 'rejected' || actions.some((one) => one.key === key && one.outcome === 'satisfied');
  const rest = asked.filter(({ status, actionKey }) => status === 'pending' && isOver(actionKey));
  await cancelAssignments(work, locked, rest, 'The decision was taken without it.');
}

function rejectionOf(
  actions: readonly AskingAction[],
  asked: readonly Assignment[],
  counted: readonly ActionOutcome[],
  passed: Readonly<Record<string, string>>,
): ApprovalStep {
  const { key, needed, approved, pending } = counted.find(({ outcome }) => outcome === 'rejected') as ActionOutcome;
  const label = actions.find((action) => action.key === key)?.label ?? key;
  const rejections = asked.filter(({ actionKey, status }) => actionKey === key && status === 'rejected');
  const [note] = rejections.flatMap((one) => (one.note === null ? [] : [one.note]));
  if (rejections.length > 0) return { is: 'rejected', code: 'rejected', reason: note ?? `Rejected: ${label}.` };
  if (passed[key]) return { is: 'rejected', code: 'overdue', reason: `Nobody decided in time: ${label}.` };
  const possible = approved + pending;
  const reason = `${label}: ${needed} approvals are needed, and only ${possible} ${possible === 1 ? 'is' : 'are'} possible. Only active members are asked who may view the record and have not made the change.`;
  return { is: 'rejected', code: 'out_of_reach', reason };
}

function waitReason(outcome: ActionOutcome['outcome']): string | null {
  if (outcome === 'unattended')
    return 'Nobody can decide: neither a person who is named nor an owner or admin may view the record without having made the change. Give somebody the right to view it, or cancel the workflow.';
  return outcome === 'changes_requested' ? 'Changes are requested of the person who submitted it.' : null;
}

function nextWake(
  actions: readonly AskingAction[],
  open: readonly Assignment[],
  states: Readonly<Record<string, AskedState>>,
  counted: readonly ActionOutcome[],
  now: Date,
): Date | null {
  const times = actions.flatMap((action) => {
    const outcome = counted.find(({ key }) => key === action.key)?.outcome;
    if (outcome === 'satisfied') return [];
    const state = states[action.key];
    const dueAt = dueAtOf(action, state);
    const reminders = open.filter(({ actionKey }) => actionKey === action.key);
    return [
      ...(outcome === 'unattended' || lacksEscalation(action, state, now)
        ? [new Date(now.getTime() + lookAgainMs)]
        : []),
      ...(dueAt && dueAt > now ? [dueAt] : []),
      ...reminders.flatMap((one) => remindAtOf(action, one) ?? []),
    ];
  });
  const [first] = times.toSorted((a, b) => a.getTime() - b.getTime());
  return first ?? null;
}
