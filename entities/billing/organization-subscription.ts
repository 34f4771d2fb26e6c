import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, integer, text, timestamp } from '../kit/model/fields.ts';
import { billedRecord } from '../presets/billed-record.ts';

export const organizationSubscription = defineEntityModule({
  kind: 'organizationSubscription',
  table: 'organization_subscriptions',
  description: 'Subscription of an organization at the payment provider.',
  fields: {
    externalId: text('Id of the subscription at the payment provider.', { max: 200, optional: true }),
    status: choice(
      'Status that the payment provider reports.',
      ['trialing', 'active', 'past_due', 'incomplete', 'canceled', 'incomplete_expired', 'unpaid', 'paused'],
      { default: 'trialing', exposed: 'read', lists: ['filter'] },
    ),
    isActive: flag('Whether the organization may use the products of the subscription.', {
      default: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    trialEndsAt: timestamp('When the trial ends; null without a trial.', { optional: true, exposed: 'read' }),
    endsAt: timestamp('When the subscription ends; null for one that continues.', { optional: true, exposed: 'read' }),
    daysUntilDue: integer('Days from an invoice until its payment is due.', {
      min: 0,
      max: 366,
      optional: true,
      exposed: 'read',
    }),
  },
  unique: [{ fields: ['externalId'], message: 'This subscription is stored already.' }],
  tenancy: 'organization',
  policy: billedRecord(),
  events: ['created', 'updated', 'deleted'],
});
