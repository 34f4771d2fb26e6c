// Left to npm run prove; npm test has test/temporal-dev/local-payment-settings.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StripeProvider } from '#activities/clients/payment/stripe-provider.ts';
import { eventually } from '../kit/eventually.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { StartedProduct } from '../kit/processes/started-product.ts';
import { openWorld, type World } from '../kit/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'core-payment-'));
let world: World;
let product: StartedProduct;

beforeAll(async () => {
  world = await openWorld();
  const file = join(folder, 'own.yaml');
  const { CORE_JOBQUEUE_CONNECTIONURI: connectionuri, CORE_AUTHZ_HOSTURL: hosturl } = world.environment;
  const settings = {
    db: { primarydbsource: world.databaseUrl },
    authz: { hosturl, storename: world.name },
    jobqueue: { connectionuri, queueconf: { Schema: world.name } },
  };
  writeFileSync(file, JSON.stringify(settings));
  product = await StartedProduct.start(['--config', file], { CORE_SUBSCRIPTION_ENABLED: 'true' });
}, 600_000);
afterAll(async () => {
  await product.stop();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const urlOf = (path = '') => `${product.facts.urls.payment}${path}`;
const pageOf = async () => (await fetch(urlOf())).text();

test('npm start with billing and no key has a payment provider, whose events the API accepts', async () => {
  // The block is printed after the file that says that all is ready.
  await eventually(() => product.output.includes(`Payments      ${urlOf()} (a fake`));
  const provider = new StripeProvider({ key: 'sk_test_local', url: urlOf() });
  const party = {
    organizationId: 'none',
    name: 'Somebody',
    email: 'a@example.com',
    phone: null,
    address: null,
    taxId: null,
  };
  const id = await provider.createCustomer(party, 'none/customer/1');
  const cardAdded = new URLSearchParams({ action: 'add-card' });
  await fetch(urlOf(`/portal/${id}`), { method: 'POST', body: cardAdded });
  await eventually(async () => expect(await pageOf()).toContain('payment_method.attached: 200'));
  expect(await provider.prices(['sandbox_compliance_month'])).toMatchObject([{ unitAmount: 45_000 }]);
});

test('npm run billing reaches the payment provider', async () => {
  const shell = new ReaderShell(product.stateDir, 'reader');
  expect(await shell.run('npm run -s billing -- catalogue check')).toContain('as in the catalogue of the sandbox');
  expect(await shell.run('npm run -s billing -- list')).toContain('organizations');
  expect(await shell.run('npm run -s billing -- webhook status')).toMatch(
    `${product.facts.urls.api}/v1/payment/webhook`,
  );
  await shell.close();
});

test('docs/billing.md can be followed after the ten calls of README', async () => {
  const [address = '', ...ten] = codeBlocks('README.md', 'sh', 'Ten calls');
  const [, setting = '', ...first] = codeBlocks('docs/billing.md', 'sh', 'First calls');
  const shell = new ReaderShell(product.stateDir, 'newcomer');
  const here = (block: string) => block.replace(/http:\/\/[0-9.:]+/, product.facts.urls.api);
  for (const block of [here(address), ...ten, here(setting), ...first]) await shell.run(block);
  const said: string[] = [];
  for (const block of codeBlocks('docs/billing.md', 'sh', 'A failed')) said.push(await shell.run(block));
  await shell.close();
  expect(said.map((answer) => answer.includes('"code":"subscription_inactive"'))).toEqual([false, false, true, false]);
  expect(said[2]).toContain(urlOf('/plan'));
  expect(said.at(-1)).toContain('"data":[');
});

test('the payment provider has the same customers after the next start', async () => {
  expect(await pageOf()).toContain('Somebody');
  await product.restart();
  expect(await pageOf()).toContain('Somebody');
});
