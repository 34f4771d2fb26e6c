import { isLive } from '#entities/billing/live-subscription.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { askPayment } from '#runtime/ask-payment.ts';
import type { Asking } from '../../credentials/asking.ts';
import type { Services } from '../../http/services.ts';
import { billingOf, subscriptionsOf, type Billing } from '../../people/billed-organization.ts';
import { instant, message, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const endsAt = orNull(instant('When the paid period or the trial ends; null if the payment provider has not said.'));

const common = {
  tag: 'Billing',
  acceptsSingleSignOn: true,
  answer: { endsAt, message },
  errors: ['permission_denied', 'rule_violated', 'billing_disabled', 'payment_unavailable', 'payment_refused'],
} as const;

export const cancelSubscription = defineAction({
  ...common,
  name: 'cancelSubscription',
  url: '/v1/billing/cancel',
  summary: 'Cancel the subscription',
  description:
    'The subscription, or the trial, ends with its period: until then, the organization keeps what it has paid for. For owners and super administrators. A subscription that is cancelled already stays so.',
  title: 'CancelledSubscription',
  outside: { prepare: prepareToSet(true), call: setAtProvider },
  run: async ({ unit }, _input, { billing, endsAt: end }) => {
    unit.emit(customEvent(organizationBilling, 'requested', billing, { change: 'cancel' }));
    return {
      endsAt: end,
      message: `The subscription ends ${end === null ? 'with its period' : `on ${end.toISOString()}`}.`,
    };
  },
});

export const resumeSubscription = defineAction({
  ...common,
  name: 'resumeSubscription',
  url: '/v1/billing/resume',
  summary: 'Take back the cancellation of the subscription',
  description:
    'A cancelled subscription whose period has not ended continues. For owners and super administrators. A subscription that is not cancelled stays so.',
  title: 'ResumedSubscription',
  outside: { prepare: prepareToSet(false), call: setAtProvider },
  run: async ({ unit }, _input, { billing, endsAt: end }) => {
    unit.emit(customEvent(organizationBilling, 'requested', billing, { change: 'resume' }));
    return { endsAt: end, message: 'The subscription continues.' };
  },
});

interface Setting {
  readonly billing: Billing;
  readonly subscriptionIds: readonly string[];
  readonly cancels: boolean;
  readonly endsAt: Date | null;
}

function prepareToSet(cancels: boolean): (asking: Asking) => Promise<Setting> {
  return async (asking) => {
    const billing = await billingOf(asking, 'change');
    const subscriptions = (await subscriptionsOf(asking.unit.data, billing.organizationId)).filter(isLive);
    const [latest] = subscriptions;
    if (!latest)
      throw new AppError(
        'rule_violated',
        'The organization has no subscription that continues; POST /v1/billing/checkout begins one.',
      );
    return {
      billing,
      subscriptionIds: subscriptions.flatMap(({ externalId }) => externalId ?? []),
      cancels,
      endsAt: latest.status === 'trialing' ? latest.trialEndsAt : latest.endsAt,
    };
  };
}

/** Sets a value, so it may be repeated. */
async function setAtProvider({ payment }: Services, setting: Setting): Promise<Setting> {
  await askPayment(payment, async (provider) => {
    for (const id of setting.subscriptionIds) await provider.setCancelAtPeriodEnd(id, setting.cancels);
  });
  return setting;
}
