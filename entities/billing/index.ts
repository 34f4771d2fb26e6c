export { organizationBilling } from './organization-billing.ts';
export { organizationPrice } from './organization-price.ts';
export { organizationProduct } from './organization-product.ts';
export { organizationSubscription } from './organization-subscription.ts';
