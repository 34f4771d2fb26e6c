/**
 * Types of events of the payment provider that the server acts on: it reads the state of the customer afresh. Others are acknowledged
 * without an effect (`subscription.paymentwebhookevents` selects).
 */
export const paymentEventTypes = [
  'checkout.session.completed',
  'customer.deleted',
  'customer.subscription.created',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.trial_will_end',
  'customer.subscription.updated',
  'customer.updated',
  'invoice.paid',
  'invoice.payment_failed',
  'payment_method.attached',
  'payment_method.detached',
] as const;

/** The types that the configuration selects: all that are known where it names none. */
export function selectedPaymentEvents(selected: readonly string[]): readonly string[] {
  return selected.length > 0 ? selected : paymentEventTypes;
}
