import type { AssignmentStatus } from './workflow-assignment.ts';

/** Numbers of an action that asks people: an approval, or a review. */
export interface Quorum {
  readonly key: string;
  /** Whether one rejection ends the round. */
  readonly isRequired: boolean;
  /** How many people have to approve; 0: all who are asked. If the action is not required, one is enough. */
  readonly requiredCount: number;
}

/** One person who is asked in the current round. */
export interface Asked {
  readonly actionKey: string;
  readonly userId: string;
  readonly source: 'target' | 'escalated' | 'delegated' | 'reassigned';
  /** Added because nobody else could decide or decided in time, or in the place of such a person. */
  readonly isAdded: boolean;
  /** Person in whose place a delegate decides; null for others. */
  readonly onBehalfOfId: string | null;
  readonly status: AssignmentStatus;
  readonly isVoid: boolean;
}

/**
 * `pending`: people are to decide. `changes_requested`: the submitter is to edit the change. `unattended`: nobody can be asked. The workflow
 * waits in these cases; `satisfied` and `rejected` end the wait.
 */
export type Outcome = 'pending' | 'satisfied' | 'rejected' | 'changes_requested' | 'unattended';

export interface ActionOutcome {
  readonly key: string;
  readonly outcome: Outcome;
  /** How many approvals it needs. */
  readonly needed: number;
  readonly approved: number;
  readonly pending: number;
}

/** Deadlines that have passed, by the keys of the actions. An approval is never satisfied by time (`on_due` of the document). */
export type PassedDeadlines = Readonly<Record<string, 'satisfied' | 'rejected'>>;

/**
 * The outcome of all actions that run side by side, and of each. It is a function of what the rows say, so it is the same when a person
 * decides and when the change is applied.
 * @param assignments those of the current round
 */
export function outcomeOf(
  actions: readonly Quorum[],
  assignments: readonly Asked[],
  passed: PassedDeadlines = {},
): { readonly outcome: Outcome; readonly actions: readonly ActionOutcome[] } {
  const asked = Map.groupBy(assignments, ({ actionKey }) => actionKey);
  const each = actions.map((action) => actionOutcome(action, asked.get(action.key) ?? [], passed[action.key]));
  const has = (outcome: Outcome) => each.some((one) => one.outcome === outcome);
  const order = ['rejected', 'changes_requested', 'unattended', 'pending'] as const;
  // No action at all is no consent.
  return { outcome: order.find(has) ?? (each.length > 0 ? 'satisfied' : 'unattended'), actions: each };
}

function actionOutcome(
  action: Quorum,
  assignments: readonly Asked[],
  passed: 'satisfied' | 'rejected' | undefined,
): ActionOutcome {
  const places = placesOf(assignments);
  const count = (status: PlaceStatus) => places.filter((place) => place.status === status).length;
  const [approved, pending] = [count('approved'), count('pending')];
  const needed = neededOf(action, places);
  const counted = (): Outcome => {
    if (places.length === 0) return 'unattended';
    if (action.isRequired && count('rejected') > 0) return 'rejected';
    if (action.isRequired && count('changes_requested') > 0) return 'changes_requested';
    if (approved >= needed) return 'satisfied';
    if (approved + pending >= needed) return 'pending';
    return count('changes_requested') > 0 ? 'changes_requested' : 'rejected';
  };
  const outcome = counted();
  // A decision in time is valid, also if it is counted later.
  const isDecided = outcome === 'satisfied' || outcome === 'rejected';
  return { key: action.key, outcome: isDecided ? outcome : (passed ?? outcome), needed, approved, pending };
}

type PlaceStatus = Exclude<AssignmentStatus, 'cancelled'>;

/** A person who is asked together with their delegates: however many of them decide, they are one approval. */
interface Place {
  readonly isAdded: boolean;
  readonly status: PlaceStatus;
}

function placesOf(assignments: readonly Asked[]): Place[] {
  const open = assignments.filter(({ status, isVoid }) => status !== 'cancelled' && !isVoid);
  const groups = Map.groupBy(open, ({ userId, onBehalfOfId }) => onBehalfOfId ?? userId);
  return [...groups.values()].map((group) => {
    const has = (wanted: PlaceStatus) => group.some(({ status }) => status === wanted);
    const decided = (['rejected', 'changes_requested', 'approved'] as const).find(has);
    return { isAdded: group.some(({ isAdded }) => isAdded), status: decided ?? 'pending' };
  });
}

/** People who were added can approve in the place of others; they do not raise the number. */
function neededOf({ isRequired, requiredCount }: Quorum, places: readonly Place[]): number {
  if (!isRequired) return 1;
  if (requiredCount > 0) return requiredCount;
  const first = places.filter(({ isAdded }) => !isAdded).length;
  return Math.max(1, first > 0 ? first : places.length);
}
