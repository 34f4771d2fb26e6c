import type { ProductModule } from '../../kit/model/product-modules.ts';

/** A price, named by its lookup key: ids of the payment provider differ between its accounts. */
export interface CataloguePrice {
  readonly lookupKey: string;
  readonly interval: 'month' | 'year';
  /** In the smallest unit of the currency. */
  readonly unitAmount: number;
  /** ISO 4217, in lower case. */
  readonly currency: string;
}

/** A part of the product that organizations pay for. */
export interface CatalogueEntry {
  readonly name: string;
  readonly kind: 'module' | 'addon';
  /** Product module that it opens; absent if it opens none. */
  readonly module?: ProductModule;
  readonly displayName: string;
  readonly description: string;
  /** `public`: everybody can order it. `private`: the operator agrees on it with an organization. `beta`: everybody; it is not finished. */
  readonly audience: 'public' | 'private' | 'beta';
  /** Part of the trial of a new organization. */
  readonly isInTrial: boolean;
  /** Every organization has it, whatever it pays. */
  readonly isBase: boolean;
  readonly prices: readonly CataloguePrice[];
}

export type Catalogue = readonly CatalogueEntry[];

/** The entry and the price with a lookup key; undefined for a foreign price. */
export function priceIn(
  catalogue: Catalogue,
  lookupKey: string | null,
): { readonly entry: CatalogueEntry; readonly price: CataloguePrice } | undefined {
  for (const entry of catalogue) {
    const price = entry.prices.find((one) => one.lookupKey === lookupKey);
    if (price) return { entry, price };
  }
  return undefined;
}

/** Entries that an organization can order: private ones if it has their module. */
export function offeredTo(catalogue: Catalogue, modules: readonly ProductModule[]): Catalogue {
  return catalogue.filter(
    ({ audience, module }) => audience !== 'private' || (module !== undefined && modules.includes(module)),
  );
}

/** The product modules of a trial. */
export function trialModules(catalogue: Catalogue): ProductModule[] {
  return catalogue.flatMap(({ module, isInTrial }) => (isInTrial && module ? module : []));
}

/** Lookup keys of the prices of a trial, which are those of a month. */
export function trialLookupKeys(catalogue: Catalogue): string[] {
  return catalogue.flatMap(({ isInTrial, prices }) =>
    isInTrial ? prices.filter(({ interval }) => interval === 'month').map(({ lookupKey }) => lookupKey) : [],
  );
}
