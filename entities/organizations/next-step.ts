import { deletionTime, foreseen, lifecycleOf, type LifecycleFacts, type LifecycleSettings } from './lifecycle.ts';

const dayMs = 86_400_000;

export interface NextStep {
  readonly at: Date;
  readonly action: 'mark' | 'announce' | 'spare' | 'delete';
}

/** The next step of an organization if nothing else happens; undefined when there is none. */
export function nextStepOf(facts: LifecycleFacts, settings: LifecycleSettings, now: Date): NextStep | undefined {
  const { createdAt, markedForDeletionAt, deletionNotBefore, deletionRequesterId } = facts;
  if (deletionRequesterId !== null)
    return deletionNotBefore === null ? undefined : { at: later(deletionNotBefore, now), action: 'delete' };
  const deletedAt = deletionTime(facts, settings).getTime();
  // It is marked when it is older than the interval, not as old.
  const oldAt = createdAt.getTime() + settings.paymentmethodinterval * dayMs + 1;
  const times = [
    now.getTime(),
    ...(markedForDeletionAt === null ? [oldAt] : [deletedAt - 3 * dayMs, deletedAt - dayMs, deletedAt]),
    ...[facts.trialEndsAt, facts.subscriptionsEndAt, facts.grantsEndAt, facts.sparedUntil].map(
      (end) => end?.getTime() ?? 0,
    ),
  ];
  for (const time of times.toSorted((one, other) => one - other)) {
    if (time < now.getTime()) continue;
    const at = new Date(time);
    const { action } = lifecycleOf(at > now ? foreseen(facts, at) : facts, settings, at);
    if (action !== null) return { at, action };
  }
  return undefined;
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
