import type { Caller } from '../model/caller.ts';
import { productModules, type ProductModule } from '../model/product-modules.ts';

/** Billing of an organization and of those above it, as the database has it (sql/entitlements_of.sql). */
export interface HeldEntitlements {
  /** `<module>:<source>`, and for a grant that ends `<module>:granted:<time>`, in milliseconds. */
  readonly heldModules: readonly string[];
  /** `lapsed`, `no_payment_method`, `founder:<domain>`. */
  readonly billingFacts?: readonly string[];
}

/** Settings that decide what organizations may use. */
export interface EntitlementSettings {
  readonly ormconfig: {
    readonly modules: { readonly enabled: boolean; readonly devmode: boolean };
    readonly billing: { readonly requirepaymentmethod: boolean; readonly bypassemaildomains: readonly string[] };
  };
  readonly subscription: { readonly enabled: boolean; readonly paymentbillingportalsuccessurl: string };
}

/** Properties of a caller that follow from the billing of the organization. */
export type Entitled = Pick<Caller, 'productModules' | 'needsPaymentMethod' | 'billingPage'>;

/** The modules that a caller may use, and the requirements, by the billing of the organization. */
export function entitled(
  held: HeldEntitlements,
  { ormconfig, subscription }: EntitlementSettings,
  now: Date,
): Entitled {
  const { modules, billing } = ormconfig;
  const isChecked = modules.enabled && !modules.devmode;
  return {
    productModules: isChecked ? productModules.filter(among(held, subscription.enabled, now)) : productModules,
    needsPaymentMethod:
      requiresPaymentMethod({ ormconfig, subscription }) &&
      isWithoutPaymentMethod(held.billingFacts ?? [], billing.bypassemaildomains),
    billingPage: subscription.enabled ? subscription.paymentbillingportalsuccessurl : null,
  };
}

/** Whether some organizations need a payment method; with billing off, nobody could add one. */
export function requiresPaymentMethod({ ormconfig, subscription }: EntitlementSettings): boolean {
  return subscription.enabled && ormconfig.billing.requirepaymentmethod;
}

/** The modules that an organization has, from whichever source, for work that does not know the configuration. */
export function whateverHeld(held: HeldEntitlements): Pick<Entitled, 'productModules'> {
  return {
    productModules: productModules.filter((module) => held.heldModules.some((one) => one.startsWith(`${module}:`))),
  };
}

/** Whether the organization pays nothing any more: its API tokens do not work. */
export function isLapsed({ billingFacts = [] }: HeldEntitlements, { subscription }: EntitlementSettings): boolean {
  return subscription.enabled && billingFacts.includes('lapsed');
}

function among({ heldModules }: HeldEntitlements, isBilled: boolean, now: Date): (module: ProductModule) => boolean {
  const applying = new Set(
    heldModules.flatMap((held) => {
      const [module, source, endsAt] = held.split(':');
      return applies({ source, endsAt: endsAt === undefined ? null : new Date(Number(endsAt)) }, isBilled, now)
        ? module
        : [];
    }),
  );
  return (module) => applying.has(module);
}

/**
 * Whether a module that an organization has applies now. Without billing only grants of operators do. A grant ends at its time, everything
 * else when its row does: a period that is over may have been paid already.
 */
export function applies(
  { source, endsAt }: { readonly source: string | undefined; readonly endsAt: Date | null },
  isBilled: boolean,
  now: Date,
): boolean {
  return source === 'granted' ? endsAt === null || endsAt > now : isBilled;
}

function isWithoutPaymentMethod(facts: readonly string[], exempt: readonly string[]): boolean {
  return (
    facts.includes('no_payment_method') && !exempt.some((domain) => facts.includes(`founder:${domain.toLowerCase()}`))
  );
}
