import type { Catalogue } from './catalogue.ts';
import { liveCatalogue } from './live.ts';
import { sandboxCatalogue } from './sandbox.ts';

/** The catalogue that the configuration selects. @param modules `ormconfig.modules` */
export function selectedCatalogue({ usesandbox }: { readonly usesandbox: boolean }): Catalogue {
  return usesandbox ? sandboxCatalogue : liveCatalogue;
}
