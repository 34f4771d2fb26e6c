import type { Instance } from './approval-work.ts';
import type { AskingAction } from './asking-action.ts';
import type { PassedDeadlines } from '../outcome.ts';

/** Facts of an action that asks people; they are kept in the context of the instance. */
export interface AskedState {
  readonly round: number;
  /** RFC 3339. */
  readonly askedAt: string;
  /** When people were added, because the decision is overdue or nobody can take it. */
  readonly escalatedAt?: string;
  /** Since when nobody can decide: it was announced. */
  readonly unattendedSince?: string;
}

/** Facts by the keys of the actions. */
export type AskedStates = Readonly<Record<string, AskedState>>;

/** Those of the current round. */
export function askedStatesOf({ context, round }: Pick<Instance, 'context' | 'round'>): AskedStates {
  const { approvals = {} } = (context ?? {}) as { readonly approvals?: AskedStates };
  return Object.fromEntries(Object.entries(approvals).filter(([, state]) => state.round === round));
}

/** The context of an instance with these facts in it. */
export function contextWith({ context }: Pick<Instance, 'context'>, approvals: AskedStates): Record<string, unknown> {
  return { ...(context as Record<string, unknown> | null), approvals };
}

export function dueAtOf({ dueInMs }: AskingAction, state: AskedState | undefined): Date | null {
  return dueInMs === undefined || !state ? null : new Date(Date.parse(state.askedAt) + dueInMs);
}

export function isOverdue(action: AskingAction, state: AskedState | undefined, now: Date): boolean {
  const dueAt = dueAtOf(action, state);
  return dueAt !== null && dueAt <= now;
}

/** Deadlines that decide an action. */
export function passedDeadlines(actions: readonly AskingAction[], states: AskedStates, now: Date): PassedDeadlines {
  const passed = actions.flatMap((action) => {
    if (action.onDue === 'ESCALATE' || !isOverdue(action, states[action.key], now)) return [];
    return [[action.key, action.onDue === 'REJECT' ? 'rejected' : 'satisfied'] as const];
  });
  return Object.fromEntries(passed);
}
