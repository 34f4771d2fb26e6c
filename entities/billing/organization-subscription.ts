import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, integer, text, timestamp } from '../kit/model/fields.ts';
import { billedRecord } from '../presets/billed-record.ts';

export const organizationSubscription = defineEntityModule({
  kind: 'organizationSubscription',
  table: 'organization_subscriptions',
  description: 'Subscription of an organization at the payment provider.',
  fields: {
    externalId: text('Id of the subscription at the payment provider.', { max: 200, optional: true }),
    status: text(
      'Status as the payment provider names it: trialing, active, past_due, incomplete, canceled, incomplete_expired, unpaid, paused, or one that is newer than this server.',
      { max: 100, exposed: 'read' },
    ),
    isActive: flag('Whether the organization may use the products of the subscription.', {
      default: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    isTrialOfServer: flag('Whether the server created it for the trial of the organization.', { default: false }),
    interval: choice('Interval of the payments; null if its prices have several or none.', ['month', 'year'], {
      optional: true,
      exposed: 'read',
    }),
    trialEndsAt: timestamp('When the trial ends; null without a trial.', { optional: true, exposed: 'read' }),
    endsAt: timestamp('When the paid period ends; a subscription that is not cancelled then continues.', {
      optional: true,
      exposed: 'read',
    }),
    cancelsAt: timestamp('When the subscription ends because it was cancelled; null for one that continues.', {
      optional: true,
      exposed: 'read',
    }),
    nextAttemptAt: timestamp(
      'When the payment provider tries again to collect an overdue payment; null if it does not. Until then the subscription applies.',
      { optional: true, exposed: 'read' },
    ),
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
