import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, integer, reference, text } from '../kit/model/fields.ts';
import { money } from '../kit/model/composed/money.ts';
import { billedRecord } from '../presets/billed-record.ts';

export const organizationPrice = defineEntityModule({
  kind: 'organizationPrice',
  table: 'organization_prices',
  description: 'Price that an organization pays for a product, as the payment provider has it.',
  fields: {
    ...money('amount', 'Price for one interval.', { exposed: 'read', lists: ['order'] }),
    interval: choice('Interval of the payments.', ['month', 'year'], { default: 'month', exposed: 'read' }),
    externalId: text('Id of the price at the payment provider.', { max: 200, optional: true }),
    lookupKey: text('Name of the price in the catalogue; null for a price that the catalogue does not have.', {
      max: 200,
      optional: true,
      exposed: 'read',
    }),
    quantity: integer('How many times it is paid.', { min: 0, max: 2_147_483_647, default: 1, exposed: 'read' }),
    isActive: flag('Whether the price is in use.', { default: true, exposed: 'read', lists: ['filter'] }),
    subscriptionId: reference('organizationSubscription', 'Subscription in which it is paid.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      reverse: 'prices',
      exposed: 'read',
      lists: ['filter'],
    }),
  },
  unique: [
    {
      fields: ['subscriptionId', 'externalId'],
      message: 'This price of the subscription is stored already.',
    },
  ],
  tenancy: 'organization',
  policy: billedRecord(),
  events: ['created', 'updated', 'deleted'],
});
