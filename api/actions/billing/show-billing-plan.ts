import { Type } from 'typebox';
import { isLive, isTrial } from '#entities/billing/live-subscription.ts';
import { applies } from '#entities/kit/access/entitled.ts';
import { moduleSources, productModules } from '#entities/kit/model/product-modules.ts';
import { billingOf, modulesOf, subscriptionsOf } from '../../people/billed-organization.ts';
import { instant, oneOf, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const heldModule = Type.Object(
  {
    module: Type.String({ description: `Product module, one of ${productModules.join(', ')}.` }),
    source: oneOf(moduleSources, 'Why the organization has it.', {
      name: 'BillingModuleSource',
      description: 'Why an organization has a product module.',
    }),
    endsAt: orNull(instant('When the organization loses it from this source; null if no end is known.')),
  },
  { title: 'BillingModule', description: 'Product module of an organization, from one source.' },
);

const subscription = Type.Object(
  {
    status: Type.String({ description: 'Status, as the payment provider names it.' }),
    isTrial: Type.Boolean({ description: 'Whether it is the trial that began with the organization.' }),
    interval: orNull(
      Type.String({ description: 'Interval of the payments, `month` or `year`; null if it has several.' }),
    ),
    trialEndsAt: orNull(instant('When its trial ends; null without a trial.')),
    endsAt: orNull(instant('When the paid period ends; it continues then, unless it is cancelled.')),
    cancelsAt: orNull(instant('When it ends because it was cancelled; null if it continues.')),
    nextAttemptAt: orNull(
      instant('When an overdue payment is tried again; null if nothing is overdue, or it is not tried again.'),
    ),
  },
  { title: 'BillingSubscription', description: 'Subscription of an organization that has not ended.' },
);

export const billingPlan = defineAction({
  name: 'billingPlan',
  operationId: 'getBillingPlan',
  method: 'GET',
  url: '/v1/billing/plan',
  tag: 'Billing',
  summary: 'Get the plan of the organization',
  description:
    'The plan of the current organization, for its managers. It follows the payment provider within seconds; `reconciledAt` says as of when.',
  acceptsSingleSignOn: true,
  answer: {
    modules: Type.Array(heldModule, { description: 'Product modules, with their sources.' }),
    subscriptions: Type.Array(subscription, { description: 'Subscriptions that have not ended, the newest first.' }),
    trialEndsAt: orNull(
      instant(
        'When the trial ends that began with the organization, or when billing was turned on; null without one, and once a subscription has replaced it.',
      ),
    ),
    isLapsed: Type.Boolean({
      description:
        'Whether the organization has neither a subscription nor a trial nor granted modules. Its API tokens do not work, and its integrations are disabled.',
    }),
    hasPaymentMethod: Type.Boolean({ description: 'Whether the payment provider has a payment method.' }),
    reconciledAt: orNull(instant('When the state of the payment provider was last read; null if it never was.')),
    problem: orNull(
      Type.String({ description: 'Reason why the plan does not follow the payment provider; null if it does.' }),
    ),
  },
  title: 'BillingPlan',
  errors: ['permission_denied', 'rule_violated', 'billing_disabled'],
  run: async (asking) => {
    const { unit } = asking;
    const billing = await billingOf(asking, 'view');
    const { organizationId, trialEndsAt, isLapsed, hasPaymentMethod, reconciledAt, problem } = billing;
    const held = await modulesOf(unit.data, organizationId);
    const now = unit.clock.now();
    const subscriptions = (await subscriptionsOf(unit.data, organizationId)).filter(isLive);
    return {
      modules: held.filter((one) => applies(one, true, now)),
      subscriptions: subscriptions.map((one) => ({ ...one, isTrial: isTrial(one) })),
      trialEndsAt: subscriptions.every(isTrial) ? trialEndsAt : null,
      isLapsed,
      hasPaymentMethod,
      reconciledAt,
      problem,
    };
  },
});
