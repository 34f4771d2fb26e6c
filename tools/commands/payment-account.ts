import type { ProviderPrice, ProviderWebhook } from '#activities/clients/payment/payment-provider.ts';
import { selectedCatalogue } from '#entities/billing/catalogue/selected-catalogue.ts';
import type { CataloguePrice } from '#entities/billing/catalogue/catalogue.ts';
import { selectedPaymentEvents } from '#entities/billing/payment-event-types.ts';
import { askPayment } from '#runtime/ask-payment.ts';
import type { ToolContext } from './tool.ts';

type Context = ToolContext<'payment' | 'config'>;

/** Compares the catalogue with the prices of the payment provider. @returns whether they are the same */
export async function checkCatalogue({ runtime, print }: Context): Promise<boolean> {
  const { ormconfig } = runtime.config.current;
  const wanted = selectedCatalogue(ormconfig.modules).flatMap(({ prices }) => prices);
  const held = await askPayment(runtime.payment, (provider) =>
    provider.prices(wanted.map(({ lookupKey }) => lookupKey)),
  );
  const byKey = new Map(held.map((price) => [price.lookupKey, price]));
  const problems = wanted.flatMap((price) => problemsOf(price, byKey.get(price.lookupKey)));
  for (const problem of problems) print(problem);
  const catalogue = ormconfig.modules.usesandbox ? 'the catalogue of the sandbox' : 'the catalogue';
  if (problems.length === 0) print(`All ${wanted.length} prices are as in ${catalogue}.`);
  else print(`${problems.length} differences to ${catalogue}, which has ${wanted.length} prices.`);
  return problems.length === 0;
}

function problemsOf(wanted: CataloguePrice, held: ProviderPrice | undefined): string[] {
  if (!held) return [`${wanted.lookupKey}: the payment provider has no price with this lookup key`];
  const differ = (['unitAmount', 'currency', 'interval'] as const).filter((name) => wanted[name] !== held[name]);
  return [
    ...differ.map(
      (name) => `${wanted.lookupKey}: ${words[name]} is ${String(held[name])}, in the catalogue ${wanted[name]}`,
    ),
    ...(held.isActive ? [] : [`${wanted.lookupKey}: the price is archived, so nobody can order it`]),
  ];
}

const words = { unitAmount: 'the amount', currency: 'the currency', interval: 'the interval' } as const;

/** Shows where the payment provider sends events. @returns whether the server accepts those of one endpoint, and gets all types */
export async function showPaymentWebhook({ runtime, print }: Context): Promise<boolean> {
  const { subscription } = runtime.config.current;
  if (subscription.paymentwebhookurl === '') return refuseWithoutUrl(print);
  const all = await askPayment(runtime.payment, (provider) => provider.webhookEndpoints());
  const own = all.filter(({ url }) => isOwn(url, subscription.paymentwebhookurl));
  if (own.length === 0)
    print(
      `The payment provider sends nothing to ${subscription.paymentwebhookurl}: npm run billing -- webhook register.`,
    );
  const judged = own.map((endpoint) => ({ endpoint, problems: endpointProblems(endpoint, subscription) }));
  for (const { endpoint, problems } of judged) {
    const { id, url, apiVersion } = endpoint;
    print(`${id}  ${url}  ${apiVersion ?? 'version of the account'}  ${problems.join('; ') || 'accepted'}`);
  }
  return judged.some(({ problems }) => problems.length === 0);
}

interface Settings {
  readonly paymentwebhookurl: string;
  readonly paymentwebhooksecret: string;
  readonly paymentwebhooksecrets: Readonly<Record<string, string>>;
  readonly paymentwebhookapiversion: string;
  readonly paymentwebhookdiscardapiversion: string;
  readonly paymentwebhookevents: readonly string[];
}

function endpointProblems({ url, isEnabled, events }: ProviderWebhook, settings: Settings): string[] {
  const version = new URL(url).searchParams.get('api_version') ?? '';
  const { paymentwebhookapiversion: accepted, paymentwebhookdiscardapiversion: discarded } = settings;
  const missing = selectedPaymentEvents(settings.paymentwebhookevents).filter(
    (type) => !events.includes('*') && !events.includes(type),
  );
  const hasSecret = Object.hasOwn(settings.paymentwebhooksecrets, version) || settings.paymentwebhooksecret !== '';
  return [
    ...(isEnabled ? [] : ['disabled at the payment provider']),
    ...(version !== '' && version === discarded ? ['discarded (subscription.paymentwebhookdiscardapiversion)'] : []),
    ...(version !== '' && version !== discarded && accepted !== '' && version !== accepted
      ? [`dropped: only ${accepted} is accepted (subscription.paymentwebhookapiversion)`]
      : []),
    ...(hasSecret ? [] : ['no secret (subscription.paymentwebhooksecrets)']),
    ...(missing.length === 0 ? [] : [`lacks ${missing.join(', ')}`]),
  ];
}

/** Whether an endpoint is that of this server, in whichever version. */
function isOwn(url: string, own: string): boolean {
  return URL.canParse(url) && new URL(url).origin + new URL(url).pathname === own;
}

/** Has the payment provider send events. The secret is on the screen of the operator and nowhere else. */
export async function registerPaymentWebhook({ runtime, print }: Context, given: string | undefined): Promise<boolean> {
  const { paymentwebhookurl, paymentwebhookapiversion, paymentwebhookevents } = runtime.config.current.subscription;
  if (paymentwebhookurl === '') return refuseWithoutUrl(print);
  const version = given ?? paymentwebhookapiversion;
  if (version === '') {
    print('Name the API version of the events: --api-version, or subscription.paymentwebhookapiversion.');
    return false;
  }
  const target = new URL(paymentwebhookurl);
  target.searchParams.set('api_version', version);
  const url = target.href;
  const outcome = await askPayment(runtime.payment, async (provider) => {
    const held = (await provider.webhookEndpoints()).find((one) => one.url === url);
    return held ?? provider.registerWebhook(url, version, selectedPaymentEvents(paymentwebhookevents));
  });
  if (!('secret' in outcome)) {
    print(
      `${outcome.id} sends events of ${version} to ${url} already. Only the dashboard of the payment provider shows its secret.`,
    );
    return false;
  }
  print(
    `${outcome.id} sends events of ${version} to ${url} from now on. Its secret is not shown again; put it into the configuration:`,
  );
  print(`subscription: { paymentwebhooksecrets: { '${version}': '${outcome.secret}' } }`);
  return true;
}

function refuseWithoutUrl(print: Context['print']): false {
  print('Name the address of the receiver first: subscription.paymentwebhookurl, or domain.');
  return false;
}
