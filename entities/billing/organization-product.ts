import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, reference, text } from '../kit/model/fields.ts';
import { productModules } from '../kit/model/product-modules.ts';
import { billedRecord } from '../presets/billed-record.ts';

export const organizationProduct = defineEntityModule({
  kind: 'organizationProduct',
  table: 'organization_products',
  description: 'Product that an organization has subscribed to, as the payment provider has it.',
  fields: {
    module: choice('Product module that it contains; null if it contains none.', productModules, {
      optional: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    externalId: text('Id of the product at the payment provider.', { max: 200, optional: true }),
    isActive: flag('Whether the organization may use it.', { default: true, exposed: 'read', lists: ['filter'] }),
    subscriptionId: reference('organizationSubscription', 'Subscription that contains it.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      reverse: 'products',
      exposed: 'read',
      lists: ['filter'],
    }),
    priceId: reference('organizationPrice', 'Price that is paid for it.', {
      optional: true,
      reverse: 'products',
      exposed: 'read',
      lists: ['filter'],
    }),
  },
  unique: [
    {
      fields: ['subscriptionId', 'externalId'],
      message: 'This product of the subscription is stored already.',
    },
  ],
  tenancy: 'organization',
  policy: billedRecord(),
  events: ['created', 'updated', 'deleted'],
});
