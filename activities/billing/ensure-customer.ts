import type { BilledParty } from '#entities/billing/provider-state.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { changeBilling } from './billing-row.ts';
import { isKeySpent, type RoundParts } from './round-parts.ts';

/**
 * The customer of an organization: that of our row, else that of the key, else one that is found, else a new one. A key that the
 * provider has refused, or whose failure it repeats, is replaced when no customer is found after it.
 * @returns undefined when the organization was removed meanwhile
 * @throws PaymentFailure
 */
export async function ensureCustomer(parts: RoundParts): Promise<string | undefined> {
  const { provider, transact, round } = parts;
  const { organizationId, customerId } = round.billing;
  if (customerId !== null) return customerId;
  const party = (round.billing.billedAs ?? round.party) as BilledParty;
  const find = async () => (await provider.findCustomers(organizationId, party.email)).at(0);
  // The provider forgets a key after a day, in which nobody may have repeated the request.
  const created = (round.isRepeated ? await find() : undefined) ?? (await create(parts, party, find));
  failpoint('billing-customer-created');
  const stored = await transact((unit) =>
    changeBilling(unit, organizationId, (held) => (held.customerId === null ? { customerId: created } : undefined)),
  );
  return stored?.customerId ?? undefined;
}

async function create(
  { provider, transact, round }: RoundParts,
  party: BilledParty,
  find: () => Promise<string | undefined>,
): Promise<string> {
  const { organizationId, customerGeneration: generation } = round.billing;
  try {
    return await provider.createCustomer(party, `${organizationId}/customer/${generation}`);
  } catch (error) {
    if (!isKeySpent(error)) throw error;
    const found = await find();
    if (found !== undefined) return found;
    await transact((unit) =>
      changeBilling(unit, organizationId, (held) =>
        held.customerId === null && held.customerGeneration === generation
          ? { customerGeneration: generation + 1, billedAs: null }
          : undefined,
      ),
    );
    throw error;
  }
}
