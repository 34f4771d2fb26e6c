import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mails } from '#activities/mails/index.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import type { BilledWorld } from '../kit/billing/paying-organization.ts';
import { foundOnTrial, openReceivingWorld, untilSettled } from '../kit/billing/reconciled-organization.ts';
import { eventually } from '../kit/eventually.ts';
import { signedIn, type Person } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import type { TestClient } from '../kit/test-client.ts';

let billed: BilledWorld;
let shell: ReaderShell;
let cookies: string;
beforeAll(async () => {
  // As npm start has it.
  const environment = { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_LOCAL: 'k'.repeat(40) };
  billed = await openReceivingWorld({ worker: true, environment });
  const stateDir = dirname(billed.world.mailFolder);
  cookies = join(stateDir, 'cookies.txt');
  shell = new ReaderShell(stateDir, 'reader');
});
afterAll(async () => {
  await shell?.close();
  await billed.close();
});

let person: Person;
let client: TestClient;
let stopSending: () => Promise<void>;

test('the calls are answered as the page says, from the trial to a subscription that is cancelled and resumed', async () => {
  const { world, fake } = billed;
  person = await foundOnTrial(billed);
  await untilSettled(billed, person.organization.id);
  client = await signedIn(world, person);
  const [receiver] = [...fake.ledger.endpoints.values()];
  const [, setting = '', read = '', checkout = '', pay = '', portal = '', change = '', ...others] = codeBlocks(
    'docs/billing.md',
    'sh',
    'First calls',
  );
  expect(others).toEqual([]);
  writeFileSync(
    cookies,
    `#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\taccess_token\t${client.cookies.get('access_token')}\n`,
  );
  await shell.run(setting.replace(/http:\/\/[0-9.:]+/, new URL(receiver?.url ?? '').origin));
  const [catalogue = '', plan = ''] = (await shell.run(read)).split(/(?<=\})(?=\{)/);
  expect(catalogue).toContain('"lookup_key":"sandbox_compliance_month"');
  expect(JSON.parse(plan)).toMatchObject({ subscriptions: [{ status: 'trialing', is_trial: true }], is_lapsed: false });
  expect(await shell.run(checkout)).toMatch(`${fake.url}/checkout/`);
  stopSending = sendEvents();
  const [paid = '', , answer = ''] = (await shell.run(pay)).split('\n');
  expect(paid).toContain('Paid. The browser continues at');
  const { features } = JSON.parse(answer) as { features: object[] };
  expect(features).toContainEqual({ module: 'compliance', source: 'subscription', ends_at: null });
  // The subscription has taken the place of the trial.
  await eventually(async () => {
    const { subscriptions } = (await client.get('/v1/billing/plan')).body;
    return subscriptions.length === 1 && !subscriptions[0].is_trial;
  });
  const { modules } = (await client.get('/v1/billing/plan')).body;
  expect(modules.filter(({ source }: { source: string }) => source === 'trial')).toEqual([]);
  expect(await shell.run(portal)).toContain(`${fake.url}/portal/`);
  const [cancelled = '', resumed = ''] = (await shell.run(change)).split(/(?<=\})(?=\{)/);
  expect(JSON.parse(cancelled).message).toContain('ends on');
  expect(JSON.parse(resumed).message).toContain('continues');
  await stopSending();
  await untilSettled(billed, person.organization.id);
  // The plan follows also when the event of the provider is lost.
  const { ends_at: end } = (await client.post('/v1/billing/cancel')).body;
  await eventually(async () => {
    const { subscriptions, modules: kept } = (await client.get('/v1/billing/plan')).body;
    return subscriptions[0].cancels_at === end && kept.some((one: { ends_at: string }) => one.ends_at === end);
  });
  await client.post('/v1/billing/resume');
});

test('a failed payment, the end of the subscription and the next one are as the page says', async () => {
  await untilSettled(billed, person.organization.id);
  stopSending = sendEvents();
  const [token = '', fail = '', lapse = '', again = '', ...others] = codeBlocks('docs/billing.md', 'sh', 'A failed');
  expect(others).toEqual([]);
  const run = (block: string) => shell.run(block.replace('you@example.com', person.user.email));
  expect(await run(token)).toContain('"data":[]');
  const overdue = await run(fail);
  expect(overdue).toContain('"status":"past_due"');
  expect(overdue).toContain('Subject: A payment failed');
  const lapsed = await run(lapse);
  expect(lapsed).toContain('Subject: Your subscription has ended');
  expect(lapsed).toContain('"code":"subscription_inactive"');
  const active = await run(again);
  expect(active).toContain('"is_lapsed":false');
  expect(active).toContain('"data":[]');
  await stopSending();
});

test('every mail of billing is in the table', () => {
  const names = mails.flatMap(({ name, about }) => (about?.kind === organizationBilling.kind ? [name] : []));
  const [, table = ''] = readFileSync('docs/billing.md', 'utf8').split('## Mails');
  expect(Array.from(table.matchAll(/^\| `([a-z-]+)`/gm), ([, name = '']) => name).toSorted()).toEqual(names.toSorted());
});

/** The provider sends its events by itself, as that of `npm start` does. @returns ends that */
function sendEvents(): () => Promise<void> {
  let isSending = true;
  const sending = eventually(async () => {
    await billed.fake.events.send();
    return !isSending;
  });
  return async () => {
    isSending = false;
    await sending;
  };
}
