import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { integration, organization, organizationBilling, organizationModule } from '#entities/index.ts';
import { paymentEventTypes } from '#entities/billing/payment-event-types.ts';
import { sandboxCatalogue } from '#entities/billing/catalogue/sandbox.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { ChangesOf } from '#entities/kit/model/define.ts';
import type { BillingCommand } from '#tools/commands/billing-arguments.ts';
import { runBillingCommand } from '#tools/commands/billing-commands.ts';
import { asSystem, transactAs } from '../kit/as-person.ts';
import {
  buildPayer,
  openBilledWorld,
  storeSubscription,
  type BilledWorld,
  type Payer,
} from '../kit/billing/paying-organization.ts';
import { buildPart } from '../kit/people.ts';
import { shows } from '../kit/shows.ts';
import type { World } from '../kit/world.ts';

const receiver = 'https://api.example.com/v1/payment/webhook';

let billed: BilledWorld;
let payer: Payer;
beforeAll(async () => {
  billed = await openBilledWorld({ environment: { CORE_SUBSCRIPTION_PAYMENTWEBHOOKURL: receiver } });
});
afterAll(() => billed.close());
beforeEach(async () => {
  payer = await buildPayer(billed);
});

async function run(command: BillingCommand, { runtime }: Pick<World, 'runtime'> = billed.world) {
  const lines: string[] = [];
  const isDone = await runBillingCommand(command, { runtime, print: (line) => lines.push(line) });
  return { isDone, said: lines.join('\n') };
}

describe('a grant', () => {
  const grant = (endsAt: Date | null = null) =>
    run({ name: 'grant', organizationId: payer.organization.id, module: 'vulnerability_management', endsAt });
  const revoke = () =>
    run({ name: 'revoke', organizationId: payer.organization.id, module: 'vulnerability_management', endsAt: null });
  const held = () =>
    asSystem(billed.world, payer.organization.id, (data) => data.find(organizationModule, { limit: 10 }));

  test('is a module that nobody pays for, until it is revoked', async () => {
    expect(await grant()).toMatchObject({ isDone: true, said: expect.stringContaining('until it is revoked') });
    expect(await held()).toMatchObject([{ module: 'vulnerability_management', source: 'granted', endsAt: null }]);
    expect(await grant()).toMatchObject({ isDone: false });
    expect(await revoke()).toMatchObject({ isDone: true });
    expect(await held()).toEqual([]);
    expect(await revoke()).toMatchObject({ isDone: false });
  });

  test('has an end, which another one moves', async () => {
    const later = (days: number) => new Date(billed.world.clock.now().getTime() + days * 86_400_000);
    expect((await grant(later(1))).isDone).toBe(true);
    expect((await grant(later(2))).isDone).toBe(true);
    expect(await held()).toMatchObject([{ endsAt: later(2) }]);
    expect(await grant(later(-1))).toMatchObject({ isDone: false, said: expect.stringContaining('is over') });
  });

  test('ends a lapse at once, and its end begins it again', async () => {
    const { id } = payer.organization;
    const billing = () => asSystem(billed.world, id, (data) => data.findOne(organizationBilling, {}));
    const change = (values: ChangesOf<typeof organizationBilling>) =>
      asSystem(billed.world, id, async (data) =>
        data.update(organizationBilling, (await data.findOne(organizationBilling, {}))?.id ?? '', values),
      );
    const status = () => asSystem(billed.world, id, async (data) => (await data.findOne(integration, {}))?.status);
    await asSystem(billed.world, id, (data) => data.create(integration, { name: 'Directory', status: 'connected' }));
    // The customer was never read: nobody knows what it pays for.
    await grant();
    await revoke();
    expect((await billing())?.isLapsed).toBe(false);
    await change({ reconciledAt: billed.world.clock.now(), isLapsed: true });
    await grant();
    expect((await billing())?.isLapsed).toBe(false);
    await revoke();
    expect((await billing())?.isLapsed).toBe(true);
    expect(await status()).toBe('disabled');
    await grant();
    expect(await status()).toBe('connected');
  });

  test('is for an organization that has a plan', async () => {
    const part = await buildPart(billed.world, payer.organization.id);
    const command = { name: 'grant', organizationId: part.id, module: 'registry', endsAt: null } as const;
    expect(await run(command)).toMatchObject({
      isDone: false,
      said: expect.stringContaining(`(${payer.organization.id}) covers it`),
    });
    const home = await transactAs(billed.world.runtime, systemCaller('test'), ({ data }) =>
      data.create(organization, { name: `personal-${newId()}`, isPersonal: true }),
    );
    expect(await run({ ...command, organizationId: home.id })).toMatchObject({
      isDone: false,
      said: expect.stringContaining('personal organization'),
    });
    await asSystem(billed.world, payer.organization.id, async (data) => {
      const billing = await data.findOne(organizationBilling, {});
      await data.remove(organizationBilling, billing?.id ?? '');
    });
    expect(await grant()).toMatchObject({ isDone: false, said: expect.stringContaining('older than billing') });
  });

  test('is for an organization that there is', async () => {
    const organizationId = '01KG9ZT0H8N4P6S2V9X7Z3A5BC';
    const nowhere = await run({ name: 'grant', organizationId, module: 'registry', endsAt: null });
    expect(nowhere).toEqual({ isDone: false, said: `${organizationId}: there is no such organization.` });
  });
});

test('the list says who pays what, until when, and which problems an operator resolves', async () => {
  const { id, name } = payer.organization;
  const endsAt = new Date('2027-03-01T00:00:00Z');
  await storeSubscription(billed, payer, { externalId: 'sub_listed', status: 'active', interval: 'year', endsAt });
  await asSystem(billed.world, id, async (data) => {
    await data.create(organizationModule, { module: 'compliance', source: 'subscription' });
    await data.create(organizationModule, { module: 'registry', source: 'granted', endsAt });
  });
  expect((await run({ name: 'list' })).isDone).toBe(true);
  await asSystem(billed.world, id, async (data) => {
    const held = await data.findOne(organizationBilling, { organizationId: { eq: id } });
    await data.update(organizationBilling, held?.id ?? '', { problem: 'The price p is foreign.' });
  });
  const { isDone, said } = await run({ name: 'list' });
  expect(isDone).toBe(false);
  expect(said).toContain(
    [
      `${id}  ${name}  ${payer.customerId}  active, each year, until 2027-03-01`,
      '  compliance (subscription), registry (granted until 2027-03-01)',
      '  problem: The price p is foreign.',
    ].join('\n'),
  );
});

describe('the catalogue', () => {
  const check = () => run({ name: 'catalogue check' });

  test('is as the payment provider has it', async () => {
    const count = sandboxCatalogue.flatMap(({ prices }) => prices).length;
    expect(await check()).toEqual({
      isDone: true,
      said: `All ${count} prices are as in the catalogue of the sandbox.`,
    });
  });

  test('differs where a price does', async () => {
    const prices = billed.fake.ledger.prices;
    const before = new Map(prices);
    for (const [id, price] of before) {
      if (price.lookupKey === 'sandbox_base_month') prices.delete(id);
      if (price.lookupKey === 'sandbox_base_year') prices.set(id, { ...price, unitAmount: 1, currency: 'eur' });
    }
    const { isDone, said } = await check();
    expect(isDone).toBe(false);
    expect(said).toContain('sandbox_base_month: the payment provider has no price with this lookup key');
    expect(said).toContain('sandbox_base_year: the amount is 1, in the catalogue 0');
    expect(said).toContain('sandbox_base_year: the currency is eur, in the catalogue usd');
    prices.clear();
    for (const [id, price] of before) prices.set(id, price);
  });
});

describe('the webhook', () => {
  const status = (world?: Pick<World, 'runtime'>) => run({ name: 'webhook status' }, world);
  const register = (apiVersion?: string) => run({ name: 'webhook register', apiVersion });

  test('is registered for a version, once, and the secret is shown once', async () => {
    shows('subscription.paymentwebhookurl');
    const version = '2026_02_25_CLOVER';
    expect(await status()).toMatchObject({ isDone: false, said: expect.stringContaining(receiver) });
    expect(await register()).toMatchObject({ isDone: false, said: expect.stringContaining('--api-version') });
    const { isDone, said } = await register(version);
    const [endpoint] = [...billed.fake.ledger.endpoints.values()];
    expect(isDone).toBe(true);
    expect(endpoint).toMatchObject({ url: `${receiver}?api_version=${version}`, events: [...paymentEventTypes] });
    expect(said).toContain(`'${version}': '${endpoint?.secret}'`);
    const again = await register(version);
    expect(again.isDone).toBe(false);
    expect(again.said).not.toContain(endpoint?.secret);
    // Not yet: the configuration has no secret.
    expect(await status()).toMatchObject({ isDone: false, said: expect.stringContaining('no secret') });
    const secrets = JSON.stringify({ [version]: endpoint?.secret });
    const instance = (environment: Readonly<Record<string, string>>) =>
      billed.world.openInstance({ environment: { CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRETS: secrets, ...environment } });
    expect(await status(await instance({}))).toMatchObject({ isDone: true, said: expect.stringContaining('accepted') });
    const discarding = await instance({ CORE_SUBSCRIPTION_PAYMENTWEBHOOKDISCARDAPIVERSION: version });
    const nowhere = await instance({ CORE_SUBSCRIPTION_PAYMENTWEBHOOKURL: '' });
    expect(await status(nowhere)).toMatchObject({ isDone: false, said: expect.stringContaining('or domain') });
    expect(await status(discarding)).toMatchObject({ isDone: false, said: expect.stringContaining('discarded') });
  });
});

test('without an answer of the payment provider, the commands about it say so', async () => {
  for (const name of ['catalogue check', 'webhook status'] as const) {
    billed.fake.behave('cut');
    const error = await run({ name }).catch((failed: unknown) => failed);
    expect(isAppError(error) && error.code).toBe('payment_unavailable');
  }
  expect((await run({ name: 'list' })).said).toContain(payer.organization.id);
});
