import type { deletionNotices } from './organization-setting.ts';

const dayMs = 86_400_000;

/** A notice of a deletion. */
export type DeletionNotice = (typeof deletionNotices)[number];

/** Everything that decides whether an organization is marked for deletion, spared or deleted. */
export interface LifecycleFacts {
  readonly createdAt: Date;
  readonly isPersonal: boolean;
  /** Children are covered by their parent, which decides for them. */
  readonly parentId: string | null;
  /** Settings, which have the mark; null without any. */
  readonly settingsId: string | null;
  /** When its customer was last read from the payment provider; null if never. */
  readonly billingReadAt: Date | null;
  /** Whether the confirmed address of its founder is of a domain that needs no payment (`bypassemaildomains`). */
  readonly isBypassed: boolean;
  readonly hasPaymentMethod: boolean;
  readonly subscriptionStatuses: readonly string[];
  /** When the last active or trialing subscription ends if nothing else happens; null if one continues, or if there is none. */
  readonly subscriptionsEndAt: Date | null;
  /** End of the trial of the server; null without one. */
  readonly trialEndsAt: Date | null;
  /** Whether an operator has granted a module that still applies, to the organization or to one below it. */
  readonly isGranted: boolean;
  /** When the last of these grants ends; null if one has no end, or if there is none. */
  readonly grantsEndAt: Date | null;
  readonly markedForDeletionAt: Date | null;
  readonly deletionNotBefore: Date | null;
  readonly deletionNotice: DeletionNotice | null;
  /** Owner who has announced the deletion. */
  readonly deletionRequesterId: string | null;
  readonly sparedUntil: Date | null;
}

/** Values of the settings of an organization that is not marked. */
export const noMark = {
  markedForDeletionAt: null,
  deletionNotBefore: null,
  deletionNotice: null,
  deletionRequesterId: null,
} as const;

export interface LifecycleSettings {
  /** Age in days at which an organization that nobody pays for is marked. */
  readonly paymentmethodinterval: number;
  /** Days between mark and deletion. */
  readonly deletiondays: number;
}

/** Why an organization is not deleted; also the reason in the event `organization.spared`. */
export type SparingReason = 'payment_method' | 'subscription' | 'trial' | 'grant' | 'bypass' | 'operator';

export type LifecycleDecision =
  | { readonly action: 'mark' | 'delete'; readonly reason: string }
  | { readonly action: 'announce'; readonly notice: DeletionNotice; readonly reason: string }
  | { readonly action: 'spare'; readonly because: SparingReason; readonly reason: string }
  | { readonly action: null; readonly reason: string };

/**
 * The next step of an organization that nobody may pay for. Both sweeps, operators and reports use this function; whoever acts decides again
 * with the organization locked.
 */
export function lifecycleOf(facts: LifecycleFacts, settings: LifecycleSettings, now: Date): LifecycleDecision {
  const { markedForDeletionAt: markedAt } = facts;
  if (facts.isPersonal) return { action: null, reason: 'it is personal' };
  if (facts.parentId !== null) return { action: null, reason: 'its parent decides' };
  if (facts.deletionRequesterId !== null) return { action: null, reason: 'an owner has announced its deletion' };
  const because = sparingReason(facts, now);
  if (facts.settingsId === null) return { action: null, reason: 'it has no settings' };
  if (!because && facts.billingReadAt === null) return { action: null, reason: 'its billing was not read yet' };
  if (markedAt === null) {
    if (because) return { action: null, reason: reasons[because] };
    const isOld = now.getTime() - facts.createdAt.getTime() > settings.paymentmethodinterval * dayMs;
    return isOld
      ? { action: 'mark', reason: 'nobody pays' }
      : { action: null, reason: 'it is younger than the interval' };
  }
  if (because) return { action: 'spare', because, reason: reasons[because] };
  const deletedAt = deletionTime(facts, settings);
  if (now >= deletedAt) return { action: 'delete', reason: 'nobody has paid until the day of the deletion' };
  const leftMs = deletedAt.getTime() - now.getTime();
  const notice = leftMs <= dayMs ? 'one_day' : leftMs <= 3 * dayMs ? 'three_days' : 'marked';
  return rank(notice) > rank(facts.deletionNotice)
    ? { action: 'announce', notice, reason: 'a notice is due' }
    : { action: null, reason: 'it is marked, and its day has not come' };
}

/**
 * The facts at a later time if nothing else happens: cancelled subscriptions, trials without a payment method and grants have ended. Nobody acts
 * on them: the payment provider decides whether a subscription has ended.
 */
export function foreseen<Facts extends LifecycleFacts>(facts: Facts, at: Date): Facts {
  const hasEnded = (end: Date | null) => end !== null && end <= at;
  return {
    ...facts,
    ...(hasEnded(facts.subscriptionsEndAt) ? { subscriptionStatuses: [] } : {}),
    ...(hasEnded(facts.grantsEndAt) ? { isGranted: false } : {}),
  };
}

/** When a marked organization is deleted: a longer setting counts at once, a shorter one overtakes no notice. */
export function deletionTime(
  { markedForDeletionAt, deletionNotBefore }: Pick<LifecycleFacts, 'markedForDeletionAt' | 'deletionNotBefore'>,
  { deletiondays }: Pick<LifecycleSettings, 'deletiondays'>,
): Date {
  const bySetting = (markedForDeletionAt?.getTime() ?? 0) + deletiondays * dayMs;
  return new Date(Math.max(bySetting, deletionNotBefore?.getTime() ?? 0));
}

/**
 * Seconds for which the mails of a notice wait: those of one run are spread, one organization a second, until the next run and in the first
 * quarter of the time that is left until the deletion.
 * @param position number of the organization in the run
 */
export function noticeDelayS(
  position: number,
  { everyMs, leftMs }: { readonly everyMs: number; readonly leftMs: number },
): number {
  return position % Math.max(1, Math.floor(Math.min(everyMs, leftMs / 4) / 1_000));
}

/** Why an organization is neither marked nor deleted; undefined when nobody pays for it. */
export function sparingReason(facts: LifecycleFacts, now: Date): SparingReason | undefined {
  if (facts.hasPaymentMethod) return 'payment_method';
  if (facts.subscriptionStatuses.some((status) => status === 'active' || status === 'trialing')) return 'subscription';
  if (facts.trialEndsAt !== null && facts.trialEndsAt > now) return 'trial';
  if (facts.isGranted) return 'grant';
  if (facts.isBypassed) return 'bypass';
  return facts.sparedUntil !== null && facts.sparedUntil > now ? 'operator' : undefined;
}

const reasons: Readonly<Record<SparingReason, string>> = {
  payment_method: 'it has a payment method',
  subscription: 'it has a subscription',
  trial: 'it is on trial',
  grant: 'an operator has granted modules',
  bypass: 'the domain of its founder is exempt',
  operator: 'an operator spares it',
};

const order: readonly (DeletionNotice | null)[] = [null, 'marked', 'three_days', 'one_day'];

function rank(notice: DeletionNotice | null): number {
  return order.indexOf(notice);
}
