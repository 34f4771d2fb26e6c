import { isLive } from '#entities/billing/live-subscription.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { askPayment } from '#runtime/ask-payment.ts';
import type { Asking } from '../../credentials/asking.ts';
import type { Services } from '../../http/services.ts';
import { billingOf, subscriptionsOf, type Billing } from '../../people/billed-organization.ts';
import { instant, message, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const endsAt = orNull(instant('When the paid period or the trial ends; null if the payment provider has not said.'));

const cancelsAt = orNull(
  instant(
    'When the subscription ends because it is cancelled now; null if it continues, or if its end is not known. The plan says so within seconds.',
  ),
);

/** Ends the descriptions. */
const whenRefused =
  'Without a subscription that continues, it is refused with `rule_violated`. If the payment provider changes only some of several subscriptions, the error says how many; send the request again.';

const common = {
  tag: 'Billing',
  acceptsSingleSignOn: true,
  answer: { endsAt, cancelsAt, message },
  errors: ['permission_denied', 'rule_violated', 'billing_disabled', 'payment_unavailable', 'payment_refused'],
} as const;

export const cancelSubscription = defineAction({
  ...common,
  name: 'cancelSubscription',
  url: '/v1/billing/cancel',
  summary: 'Cancel the subscription',
  description: `The subscription, or the trial, ends with its period: until then, the organization keeps what it has paid for. For owners and super administrators. A subscription that is cancelled already stays so. ${whenRefused}`,
  title: 'CancelledSubscription',
  outside: { prepare: prepareToSet(true), call: setAtProvider },
  run: (_asking, _input, { endsAt: end }) =>
    Promise.resolve({
      endsAt: end,
      cancelsAt: end,
      message: `The subscription ends ${end === null ? 'with its period' : `on ${end.toISOString()}`}.`,
    }),
});

export const resumeSubscription = defineAction({
  ...common,
  name: 'resumeSubscription',
  url: '/v1/billing/resume',
  summary: 'Take back the cancellation of the subscription',
  description: `A cancelled subscription whose period has not ended continues. For owners and super administrators. A subscription that is not cancelled stays so. ${whenRefused}`,
  title: 'ResumedSubscription',
  outside: { prepare: prepareToSet(false), call: setAtProvider },
  run: (_asking, _input, { endsAt: end }) =>
    Promise.resolve({ endsAt: end, cancelsAt: null, message: 'The subscription continues.' }),
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
    // The customer is read also when the server ends before the answer of the provider.
    requestReading(asking.unit, billing, cancels);
    return {
      billing,
      subscriptionIds: subscriptions.flatMap(({ externalId }) => externalId ?? []),
      cancels,
      endsAt: latest.status === 'trialing' ? latest.trialEndsAt : latest.endsAt,
    };
  };
}

/** Sets a value, so it may be repeated. The customer is read afterwards, also when this fails. */
async function setAtProvider({ payment, database, logger }: Services, setting: Setting): Promise<Setting> {
  const { billing, subscriptionIds, cancels } = setting;
  const { id: billingId, organizationId } = billing;
  const context = { caller: systemCaller('cancel or resume', organizationId), requestId: `billing-${billingId}` };
  const readAgain = () => database.transact(context, async (unit) => requestReading(unit, billing, cancels));
  const refusals: unknown[] = [];
  try {
    for (const id of subscriptionIds)
      await askPayment(payment, (provider) => provider.setCancelAtPeriodEnd(id, cancels)).catch((error: unknown) => {
        if (!isAppError(error) || error.code !== 'payment_refused') throw error;
        refusals.push(error);
      });
    const [cause] = refusals;
    const count = subscriptionIds.length;
    if (refusals.length === count && isAppError(cause)) throw cause;
    if (refusals.length > 0)
      throw new AppError(
        'payment_refused',
        `The payment provider has changed ${count - refusals.length} of ${count} subscriptions, and refused the others.`,
        { cause },
      );
  } catch (error) {
    // The caller gets the error of the provider; `prepare` has requested a reading already.
    await readAgain().catch((failure: unknown) =>
      logger.error(
        { err: failure, organization_id: organizationId },
        'a customer could not be requested to be read again',
      ),
    );
    throw error;
  }
  await readAgain();
  return setting;
}

function requestReading(unit: UnitOfWork, billing: Billing, cancels: boolean): void {
  unit.emit(customEvent(organizationBilling, 'requested', billing, { change: cancels ? 'cancel' : 'resume' }));
}
