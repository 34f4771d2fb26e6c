import { isDeepStrictEqual } from 'node:util';
import { changeBilling } from './billing-row.ts';
import type { RoundParts } from './round-parts.ts';

/** Gives the provider what invoices name, when it has changed. @throws PaymentFailure */
export async function followContact(
  { provider, transact, round: { billing, party } }: RoundParts,
  customerId: string,
): Promise<void> {
  if (isDeepStrictEqual(billing.billedAs, party)) return;
  await provider.updateCustomer(customerId, party);
  await transact((unit) => changeBilling(unit, billing.organizationId, () => ({ billedAs: party })));
}
