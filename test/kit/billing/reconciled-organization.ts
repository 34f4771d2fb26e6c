import { foundOrganization } from '#api/people/found-organization.ts';
import { sandboxCatalogue } from '#entities/billing/catalogue/sandbox.ts';
import { entitlementsOf, newTrial } from '#entities/billing/entitlements.ts';
import { moduleDifferences } from '#entities/billing/stored-facts.ts';
import { organizationBilling, organizationModule } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { asSystem } from '../as-person.ts';
import { eventually } from '../eventually.ts';
import { runSchedule } from '../sweep.ts';
import { buildPerson, type Person } from '../people.ts';
import type { WorldOptions } from '../world.ts';
import { openBilledWorld, type BilledWorld } from './paying-organization.ts';
import { paymentSecret } from './signed-payment-event.ts';

/** A world whose payment provider also sends its events to the API. */
export async function openReceivingWorld(options: WorldOptions = {}): Promise<BilledWorld> {
  const billed = await openBilledWorld({
    ...options,
    environment: {
      CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRET: paymentSecret,
      CORE_ORMCONFIG_MODULES_ENABLED: 'true',
      ...options.environment,
    },
  });
  const { url } = await billed.world.listen();
  billed.fake.addEndpoint({ url: `${url}/v1/payment/webhook`, secret: paymentSecret });
  return billed;
}

/** A person with an organization that is on trial, as one that somebody founds. */
export async function foundOnTrial({ world }: Pick<BilledWorld, 'world'>): Promise<Person> {
  const { user } = await buildPerson(world);
  const context = { caller: systemCaller('test builder'), requestId: `build-${newId()}` };
  const organization = await world.runtime.database.transact(context, ({ data }) =>
    foundOrganization(data, { name: `paying-${newId()}` }, user, {
      trial: newTrial(sandboxCatalogue, world.clock.now()),
    }),
  );
  return { user, organization };
}

/** The billing of an organization. */
export async function billingOf(
  { world }: Pick<BilledWorld, 'world'>,
  organizationId: string,
): Promise<RowOf<typeof organizationBilling>> {
  const found = await asSystem(world, organizationId, (data) => data.findOne(organizationBilling, {}));
  if (!found) throw new Error(`the organization ${organizationId} has no billing`);
  return found;
}

/** Modules of an organization as `<module>:<source>`, sorted. */
export async function modulesOf({ world }: Pick<BilledWorld, 'world'>, organizationId: string): Promise<string[]> {
  const rows = await asSystem(world, organizationId, (data) => data.find(organizationModule, { limit: 100 }));
  return rows.map(({ module, source }) => `${module}:${source}`).toSorted();
}

/** The customer of an organization, once the provider has its trial. */
export function customerOf({ fake }: Pick<BilledWorld, 'fake'>, organizationId: string): Promise<string> {
  return eventually(() => {
    const [customer] = fake.desk.customersOf(organizationId);
    return customer && fake.ledger.subscriptionsOf(customer.id).length > 0 && customer.id;
  });
}

/** Differences between the rows of an organization and what the provider has now, one sentence each. */
export async function differencesOf(billed: BilledWorld, organizationId: string): Promise<string[]> {
  const { world } = billed;
  const { customerId, trialEndsAt, isLapsed, hasPaymentMethod } = await billingOf(billed, organizationId);
  const provider = world.runtime.payment();
  if (customerId === null || !provider) return ['There is no customer.'];
  const state = await provider.readCustomer(customerId);
  const rows = await asSystem(world, organizationId, (data) => data.find(organizationModule, { limit: 100 }));
  const grants = rows.filter(({ source }) => source === 'granted');
  const facts = { subscriptions: state.subscriptions, trialEndsAt, grants, now: world.clock.now() };
  const should = entitlementsOf(facts, sandboxCatalogue);
  return [
    ...moduleDifferences(rows, should.modules),
    ...(isLapsed === should.isLapsed ? [] : [`The organization has ${isLapsed ? '' : 'not '}lapsed.`]),
    ...(hasPaymentMethod === state.hasPaymentMethod ? [] : ['Whether there is a payment method differs.']),
  ];
}

/** Waits until the rows of an organization are those that follow from what the provider has. */
export function untilSettled(billed: BilledWorld, organizationId: string): Promise<true> {
  return eventually(async () => {
    const differences = await differencesOf(billed, organizationId);
    if (differences.length > 0) throw new Error(differences.join(' '));
    return true as const;
  });
}

/** An organization whose customer has the trial at the provider. */
export async function settledOrganization(
  billed: BilledWorld,
): Promise<{ readonly id: string; readonly customer: string }> {
  const { organization } = await foundOnTrial(billed);
  const customer = await customerOf(billed, organization.id);
  await untilRead(billed, organization.id);
  return { id: organization.id, customer };
}

/** Waits until no reading is under way. */
export function untilRead(billed: BilledWorld, id: string, after = 0): Promise<true> {
  return eventually(async () => {
    const { drawnRound, appliedRound } = await billingOf(billed, id);
    return drawnRound === appliedRound && appliedRound > after;
  });
}

/** Runs the sweeps of an hour and of a day, and sends the wakes that they leave. */
export async function sweepBilling(
  { world }: BilledWorld,
  name: 'sweep-entitlements' | 'compare-billing',
): Promise<void> {
  await runSchedule(world, name);
  world.clock.advance(60_000);
  await runSchedule(world, 'sweep-outbox');
}
