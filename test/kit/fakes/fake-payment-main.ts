import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Stripe } from 'stripe';
import { apiVersionName, providerApiVersion } from '#activities/clients/payment/api-version-name.ts';
import { readStateFolder } from '#config/reading/standard-variables.ts';
import { sandboxCatalogue } from '#entities/billing/catalogue/sandbox.ts';
import { systemClock } from '#entities/kit/base/clock.ts';
import { FakePaymentProvider } from './fake-payment-provider.ts';

/**
 * The payment provider of `npm start`, for developers without an account: it sells what the sandbox catalog names, runs in real time and
 * sends its events to the API. Its state is in the state folder.
 */
const { values } = parseArgs({
  options: { port: { type: 'string' }, api: { type: 'string' }, version: { type: 'string', default: '' } },
});
const { FAKE_PAYMENT_KEY: apiKey = '', FAKE_PAYMENT_SECRET: secret = '' } = process.env;
const file = join(readStateFolder(), 'payment.json');

const fake = await FakePaymentProvider.start({ clock: systemClock, port: Number(values.port), apiKey });
if (existsSync(file)) fake.ledger.restore(JSON.parse(readFileSync(file, 'utf8')));
fake.desk.sell(sandboxCatalogue);
const version = values.version === '' ? apiVersionName(Stripe.API_VERSION) : values.version;
const url = `${values.api}/v1/payment/webhook?api_version=${version}`;
for (const [id, endpoint] of fake.ledger.endpoints) if (endpoint.url === url) fake.ledger.endpoints.delete(id);
fake.addEndpoint({ url, secret, apiVersion: providerApiVersion(version) });

let kept = '';
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    keep();
    process.exit();
  });
process.send?.('ready');
for (;;) {
  fake.advance(0);
  keep();
  await fake.events.send();
  await pause(250);
}

function keep(): void {
  const state = JSON.stringify(fake.ledger.save());
  if (state === kept) return;
  kept = state;
  writeFileSync(`${file}.part`, state, { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
