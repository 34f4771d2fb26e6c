import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { drawRound } from '#activities/billing/draw-round.ts';
import { sandboxCatalogue } from '#entities/billing/catalogue/sandbox.ts';
import { organizationSetting } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import { returnPages } from '../../kit/billing/paying-organization.ts';
import {
  billingOf,
  customerOf,
  foundOnTrial,
  openReceivingWorld,
  untilRead,
  untilSettled,
} from '../../kit/billing/reconciled-organization.ts';
import { eventually } from '../../kit/eventually.ts';
import { mailsTo, unfolded, waitForMails } from '../../kit/mailbox.ts';
import { signedIn, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';

const dayMs = 86_400_000;

let billed: BilledWorld;
let owner: Person;
let id: string;
let customer: string;
beforeAll(async () => {
  billed = await openReceivingWorld({ worker: true });
});
beforeEach(async () => {
  billed.fake.events.drop();
  owner = await foundOnTrial(billed);
  ({ id } = owner.organization);
  customer = await customerOf(billed, id);
  await untilRead(billed, id);
});
afterAll(() => billed.close());

/** Waits for the mail with this subject, and returns it. @param about text that it has, since the owner has another organization, too */
function mailWith(subject: string, address = owner.user.email, about = ''): Promise<string> {
  return eventually(async () => {
    const mails = (await mailsTo(billed.world, address)).map(unfolded);
    return mails.find((mail) => mail.includes(`Subject: ${subject}`) && mail.includes(about));
  });
}

test('owners learn that a trial ends in three days, once, and that it has ended', async () => {
  billed.world.clock.advance(27 * dayMs + 1_000);
  billed.fake.advance(0);
  await billed.fake.events.send();
  const { name } = owner.organization;
  const mail = await mailWith('Your trial ends in three days', owner.user.email, name);
  expect(mail).toContain(returnPages.success.split('?')[0] ?? '');
  // Further events about the same trial.
  billed.fake.desk.addCard(customer, false);
  billed.fake.desk.removeCards(customer);
  await billed.fake.events.send();
  await untilSettled(billed, id);
  billed.world.clock.advance(3 * dayMs);
  billed.fake.advance(0);
  await billed.fake.events.send();
  await mailWith('Your subscription has ended', owner.user.email, name);
  // The owner has another organization, which has a trial as well.
  const mails = (await mailsTo(billed.world, owner.user.email)).filter((one) => unfolded(one).includes(name));
  const subjects = mails.map((one) => /^Subject: (.*)$/m.exec(one)?.[1]?.trim() ?? '');
  expect(subjects.toSorted()).toEqual(['Your subscription has ended', 'Your trial ends in three days']);

  billed.fake.desk.addCard(customer);
  billed.fake.desk.subscribe(customer, ['sandbox_compliance_month']);
  await billed.fake.events.send();
  await untilSettled(billed, id);
  await mailWith('Your subscription is active again');
});

test('owners learn that a payment failed, and when the next attempt is', async () => {
  billed.fake.desk.addCard(customer);
  billed.fake.desk.subscribe(customer, ['sandbox_compliance_month']);
  billed.fake.desk.failNextPayments(customer, 1);
  billed.world.clock.advance(31 * dayMs);
  billed.fake.advance(0);
  await billed.fake.events.send();
  expect(await mailWith('A payment failed')).toContain('The next attempt is on');
});

test('a changed address for invoices is confirmed there, the former one is notified, and the provider follows', async () => {
  const client = await signedIn(billed.world, owner);
  const [setting] = (await client.get('/v1/organization-settings')).body.data;
  const next = `invoices-${id.toLowerCase()}@example.com`;
  const change = (payload: object) =>
    client.mutate({ method: 'PATCH', url: `/v1/organization-settings/${setting.id}`, payload });
  const answer = await change({ billing_email: next, billing_city: 'Vienna', billing_country: 'AT', tax_id: 'ATU1' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await waitForMails(billed.world, next);
  await mailWith('Invoices go to another address');
  await mailWith('Invoices are sent to this address', next);
  await eventually(() => billed.fake.desk.customer(customer).email === next);
  expect(billed.fake.desk.customer(customer)).toMatchObject({
    address: { city: 'Vienna', country: 'AT' },
    invoiceFields: [{ value: 'ATU1' }],
  });
  await eventually(async () => (await billingOf(billed, id)).formerBillingEmail === null);
  expect(await billingOf(billed, id)).toMatchObject({ billingEmail: next });
});

test('each of two quick changes of the address for invoices notifies the address before it', async () => {
  const [second, third] = [`second-${id.toLowerCase()}@example.com`, `third-${id.toLowerCase()}@example.com`];
  const context = { caller: systemCaller('test'), requestId: `quick-${id}` };
  // No mail is sent between them.
  await billed.world.runtime.database.transact(context, async (unit) => {
    const settings = await unit.data.findOne(organizationSetting, { organizationId: { eq: id } });
    for (const billingEmail of [second, third]) {
      await unit.data.update(organizationSetting, settings?.id ?? '', { billingEmail });
      await drawRound(unit, id, sandboxCatalogue);
    }
  });
  await mailWith('Invoices go to another address');
  await mailWith('Invoices go to another address', second);
  await mailWith('Invoices are sent to this address', third);
  await eventually(() => billed.fake.desk.customer(customer).email === third);
  expect((await mailsTo(billed.world, third)).map(unfolded)).toHaveLength(1);
});

test('a deleted organization cancels its subscription before its contents are removed, and waits while it cannot', async () => {
  const { fake, world } = billed;
  const client = await signedIn(world, owner);
  const pages = { successUrl: 'https://a.example', cancelUrl: 'https://a.example' };
  const order = { organizationId: id, number: 1, lookupKeys: ['sandbox_compliance_month'], ...pages };
  const page = (await world.runtime.payment()?.openCheckout(customer, order, `${id}/checkout/1`)) ?? '';
  fake.behave('fail', { method: 'DELETE', times: 2 });
  expect((await client.mutate({ method: 'DELETE', url: `/v1/organizations/${id}` })).status).toBe(204);
  expectProblem(await client.get(`/v1/organizations/${id}`), 'not_found');
  const asked = () =>
    fake.requests.filter(
      ({ method, path }) =>
        method === 'DELETE' && path.includes(fake.ledger.subscriptionsOf(customer)[0]?.id ?? 'none'),
    );
  await eventually(() => asked().length > 0);
  const removal = async () => (await (await signedIn(world, owner)).get('/v1/organization-removals')).body.data[0];
  expect((await removal()).status).toBe('pending');
  await eventually(async () => (await removal()).status === 'completed');
  expect(fake.ledger.subscriptionsOf(customer)).toMatchObject([{ status: 'canceled' }]);
  expect(() => fake.desk.pay(page)).toThrow('is expired');
  expect(asked()).toHaveLength(3);
  expect(fake.desk.customersOf(id)).toHaveLength(1);
});
