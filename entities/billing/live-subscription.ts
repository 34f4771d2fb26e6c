import type { RowOf } from '../kit/model/define.ts';
import type { organizationSubscription } from './organization-subscription.ts';

type Subscription = Pick<RowOf<typeof organizationSubscription>, 'status' | 'isTrialOfServer'>;

/** Statuses of subscriptions that have ended, or never began. */
const ended: ReadonlySet<string> = new Set(['canceled', 'incomplete', 'incomplete_expired']);

/** Whether a subscription continues at the payment provider, paid or not. */
export function isLive({ status }: Subscription): boolean {
  return !ended.has(status);
}

/** Whether a subscription is the trial that began with the organization, and has become no paid one. */
export function isTrial({ status, isTrialOfServer }: Subscription): boolean {
  return isTrialOfServer && status === 'trialing';
}

/** Whether a live subscription was bought: it is not the trial that began with the organization. */
export function isPurchased(subscription: Subscription): boolean {
  return isLive(subscription) && !isTrial(subscription);
}
