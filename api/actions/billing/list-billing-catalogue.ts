import { Type } from 'typebox';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { offersFor } from '../../people/billed-organization.ts';
import { listOf, oneOf, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const price = Type.Object(
  {
    lookupKey: Type.String({ description: 'Name of the price, for checkouts.' }),
    interval: oneOf(['month', 'year'], 'Interval of the payments.', {
      name: 'BillingInterval',
      description: 'Interval of payments.',
    }),
    unitAmount: Type.Integer({ description: 'Amount for one interval, in the smallest unit of the currency.' }),
    currency: Type.String({ description: 'Currency, as ISO 4217 names it, in lower case.' }),
  },
  { title: 'OfferedPrice', description: 'Price of a product.' },
);

export const billingCatalogue = defineAction({
  name: 'billingCatalogue',
  operationId: 'listBillingCatalogue',
  method: 'GET',
  url: '/v1/billing/catalogue',
  tag: 'Billing',
  summary: 'List the products that the organization can subscribe to',
  description:
    'Product modules and add-ons with their prices. A private product is listed for organizations that have its module.',
  acceptsSingleSignOn: true,
  answer: listOf(
    Type.Object(
      {
        name: Type.String({ description: 'Name of the product.' }),
        kind: oneOf(['module', 'addon'], 'Whether it is a product module or an addition to one.', {
          name: 'OfferedProductKind',
          description: 'Kinds of products.',
        }),
        module: orNull(
          Type.String({
            description: `Product module that it opens, one of ${productModules.join(', ')}; null if it opens none.`,
          }),
        ),
        displayName: Type.String({ description: 'Name for people.' }),
        description: Type.String({ description: 'Content, for people.' }),
        audience: oneOf(
          ['public', 'private', 'beta'],
          'Organizations that can order it. `beta`: all, and the product is not finished.',
          {
            name: 'OfferedProductAudience',
            description: 'Organizations that can order a product.',
          },
        ),
        isInTrial: Type.Boolean({ description: 'Whether the trial of a new organization contains it.' }),
        prices: Type.Array(price, { description: 'Prices, of which one is ordered.' }),
      },
      { title: 'OfferedProduct', description: 'Product that an organization can subscribe to.' },
    ),
  ),
  errors: [],
  run: async (asking) => {
    const offered = await offersFor(asking);
    return offered.map(({ module = null, ...entry }) => ({ ...entry, module, prices: [...entry.prices] }));
  },
});
