import { Type } from 'typebox';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, flag, integer, json, text, timestamp } from '../kit/model/fields.ts';
import { billedRecord } from '../presets/billed-record.ts';

/** Counters only grow; none reaches this. */
const max = 2_147_483_647;

/** Organizations below another one are covered by it, and personal ones pay nothing: they have none. */
export const organizationBilling = defineEntityModule({
  kind: 'organizationBilling',
  table: 'organization_billings',
  description: 'Billing of an organization, which covers the organizations below it; created together with it.',
  fields: {
    customerId: text('Id of its customer at the payment provider; null until there is one.', {
      max: 200,
      optional: true,
    }),
    customerGeneration: integer(
      'Part of the idempotency key with which the customer is created. It grows when the provider has no customer for the key.',
      { min: 1, max, default: 1 },
    ),
    trialGeneration: integer('The same of the subscription for the trial.', { min: 1, max, default: 1 }),
    checkoutGeneration: integer('The same of the page on which the organization pays.', { min: 0, max, default: 0 }),
    checkoutOrder: text('Digest of what was ordered with this number: another order gets another page.', {
      max: 64,
      optional: true,
    }),
    trialEndsAt: timestamp(
      'When the trial ends that began with the organization, or when billing was turned on; null without one.',
      {
        optional: true,
        exposed: 'read',
      },
    ),
    drawnRound: integer('Number of the last comparison with the provider that began.', { min: 0, max, default: 0 }),
    appliedRound: integer(
      'Number of the last comparison that was written. One with a lower number read an older state, and is not written.',
      { min: 0, max, default: 0 },
    ),
    isLapsed: flag(
      'Whether the organization has neither a subscription nor a trial nor granted modules. Its API tokens do not work, and its integrations are disabled.',
      { default: false, exposed: 'read' },
    ),
    hasPaymentMethod: flag('Whether the payment provider has a payment method of the organization.', {
      default: false,
      exposed: 'read',
    }),
    reconciledAt: timestamp('When the state of the payment provider was last written.', { optional: true }),
    problem: text('Problems that an operator must settle at the payment provider; null for none.', {
      max: 4_000,
      lines: true,
      optional: true,
    }),
    differences: text(
      'Rows that the last comparison has repaired, although nobody had reported a change; null for none.',
      {
        max: 4_000,
        lines: true,
        optional: true,
      },
    ),
    nextCheckAt: timestamp(
      'When the customer is read again although nobody reports a change: something ends then, or the reading before has died. Null for never.',
      { optional: true, default: new Date(0) },
    ),
    noticedTrialEnd: timestamp('End of the trial of which people were notified; null for none.', { optional: true }),
    billedAs: json('Contact that the payment provider last got.', { maxBytes: 8_192, optional: true }),
    billingEmail: email('Address for invoices whose owner was notified.', { optional: true }),
    formerBillingEmail: email('The same before the last change, until its owner is notified; null otherwise.', {
      optional: true,
    }),
  },
  unique: [
    { fields: ['organizationId'], message: 'This organization already has a billing.' },
    { fields: ['customerId'], message: 'This customer belongs to another organization.' },
  ],
  tenancy: 'organization',
  behaviours: [decidesCallers({ of: 'organizationId', by: ['isLapsed', 'hasPaymentMethod'] })],
  policy: billedRecord(),
  indexes: [['nextCheckAt']],
  // Every reading of the customer changes it.
  events: ['created', 'deleted'],
  customEvents: {
    requested: {
      description:
        'The plan of an organization is read from the payment provider again, mostly because an owner or an operator has changed it.',
      payload: payload({
        change: Type.String({
          description:
            'The request: `cancel`, `resume`, `grant` or `revoke` of an operator, `customer` for an organization that the payment provider does not know yet, `contact` after the owner of a former address for invoices was notified, or `undelete` after a deleted organization was restored.',
        }),
      }),
    },
    trial_ending: {
      description: 'The trial of an organization ends within three days, and no subscription follows it yet.',
      payload: payload({ endsAt: Type.String({ description: 'When it ends (RFC 3339).' }) }),
    },
    payment_failed: {
      description: 'A payment for the subscription of an organization failed; the payment provider tries again.',
      payload: payload({}),
    },
    lapsed: {
      description: 'An organization has neither a subscription nor a trial nor granted modules any more.',
      payload: payload({}),
    },
    reactivated: { description: 'An organization that had lapsed has a subscription again.', payload: payload({}) },
    billing_email_changed: {
      description: 'The address for invoices of an organization has changed.',
      payload: payload({}),
    },
  },
});
