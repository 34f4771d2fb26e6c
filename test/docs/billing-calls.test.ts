import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BilledWorld } from '../kit/billing/paying-organization.ts';
import { foundOnTrial, openReceivingWorld, untilSettled } from '../kit/billing/reconciled-organization.ts';
import { eventually } from '../kit/eventually.ts';
import { signedIn } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';

let billed: BilledWorld;
let shell: ReaderShell;
beforeAll(async () => {
  billed = await openReceivingWorld({ worker: true });
  shell = new ReaderShell(dirname(billed.world.mailFolder), 'reader');
});
afterAll(async () => {
  await shell?.close();
  await billed.close();
});

test('the calls are answered as the page says, from the trial to a subscription that is cancelled and resumed', async () => {
  const { world, fake } = billed;
  const person = await foundOnTrial(billed);
  await untilSettled(billed, person.organization.id);
  const client = await signedIn(world, person);
  const [receiver] = [...fake.ledger.endpoints.values()];
  await shell.run(`API=${new URL(receiver?.url ?? '').origin}\nTOKEN=${client.cookies.get('access_token')}\n`);
  const [read = '', checkout = '', pay = '', portal = '', change = '', ...others] = codeBlocks(
    'docs/billing.md',
    'sh',
    'First calls',
  );
  expect(others).toEqual([]);
  const [catalogue = '', plan = ''] = (await shell.run(read)).split(/(?<=\})(?=\{)/);
  expect(catalogue).toContain('"lookup_key":"sandbox_compliance_month"');
  expect(JSON.parse(plan)).toMatchObject({ subscriptions: [{ status: 'trialing', is_trial: true }], is_lapsed: false });
  expect(await shell.run(checkout)).toMatch(`${fake.url}/checkout/`);
  const stopSending = sendEvents();
  const features = JSON.parse(await shell.run(pay)) as { features: object[] };
  expect(features.features).toContainEqual({ module: 'compliance', source: 'subscription', ends_at: null });
  // The subscription has taken the place of the trial.
  await eventually(async () => {
    const { subscriptions } = (await client.get('/v1/billing/plan')).body;
    return subscriptions.length === 1 && !subscriptions[0].is_trial;
  });
  expect(await shell.run(portal)).toContain(`${fake.url}/portal/`);
  const [cancelled = '', resumed = ''] = (await shell.run(change)).split(/(?<=\})(?=\{)/);
  expect(JSON.parse(cancelled).message).toContain('ends on');
  expect(JSON.parse(resumed).message).toContain('continues');
  await stopSending();
  await untilSettled(billed, person.organization.id);
  // The plan follows also when the event of the provider is lost.
  const { ends_at: end } = (await client.post('/v1/billing/cancel')).body;
  await eventually(async () => {
    const { subscriptions, modules } = (await client.get('/v1/billing/plan')).body;
    return subscriptions[0].cancels_at === end && modules.some((one: { ends_at: string }) => one.ends_at === end);
  });
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
