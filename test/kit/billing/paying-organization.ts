import { organizationBilling, organizationSubscription } from '#entities/index.ts';
import { sandboxCatalogue } from '#entities/billing/catalogue/sandbox.ts';
import type { CreationOf } from '#entities/kit/model/define.ts';
import { asSystem } from '../as-person.ts';
import { FakePaymentProvider } from '../fakes/fake-payment-provider.ts';
import { buildPerson, signedIn, type Person } from '../people.ts';
import type { TestClient } from '../test-client.ts';
import { openWorld, type World, type WorldOptions } from '../world.ts';

/** An installation in which organizations pay, with a payment provider that sells the catalogue of the sandbox. */
export interface BilledWorld {
  readonly world: World;
  readonly fake: FakePaymentProvider;
  close(): Promise<void>;
}

/** Pages to which the payment provider returns the browser. */
export const returnPages = {
  success: 'https://console.example.com/plan?tab=billing',
  cancelled: 'https://console.example.com/cancelled',
} as const;

export async function openBilledWorld({ environment, ...options }: WorldOptions = {}): Promise<BilledWorld> {
  const fake = await FakePaymentProvider.start();
  for (const { prices } of sandboxCatalogue) for (const price of prices) fake.desk.addPrice(price);
  const world = await openWorld({
    ...options,
    payment: { url: fake.url, timeoutMs: 2_000 },
    environment: {
      CORE_SUBSCRIPTION_ENABLED: 'true',
      CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: fake.apiKey,
      CORE_SUBSCRIPTION_PAYMENTBILLINGPORTALSUCCESSURL: returnPages.success,
      CORE_SUBSCRIPTION_PAYMENTCANCELLATIONRETURNURL: returnPages.cancelled,
      CORE_ORMCONFIG_MODULES_USESANDBOX: 'true',
      ...environment,
    },
  });
  fake.clock = world.clock;
  return {
    world,
    fake,
    close: async () => {
      await world.close();
      await fake.close();
    },
  };
}

/** The owner of an organization. */
export interface Payer extends Person {
  readonly client: TestClient;
  /** Its customer at the payment provider. */
  readonly customerId: string;
}

/** An organization that the payment provider knows, without a worker that introduces it. */
export async function buildPayer({ world }: BilledWorld): Promise<Payer> {
  const person = await buildPerson(world);
  const { id: organizationId, name } = person.organization;
  const party = { organizationId, name, email: person.user.email, phone: null, address: null, taxId: null };
  const customerId = (await world.runtime.payment()?.createCustomer(party, `${organizationId}/customer/1`)) ?? '';
  await asSystem(world, organizationId, async (data) => {
    const held = await data.findOne(organizationBilling, { organizationId: { eq: organizationId } });
    await data.update(organizationBilling, held?.id ?? '', { customerId });
  });
  return { ...person, client: await signedIn(world, person), customerId };
}

/** Stores a subscription as the server has read it. */
export function storeSubscription(
  { world }: BilledWorld,
  { organization }: Pick<Person, 'organization'>,
  values: Partial<CreationOf<typeof organizationSubscription>> & {
    readonly externalId: string;
    readonly status: string;
  },
): Promise<unknown> {
  return asSystem(world, organization.id, (data) => data.create(organizationSubscription, values));
}
