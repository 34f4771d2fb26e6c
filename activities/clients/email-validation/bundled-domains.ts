import { loadedOnce } from '#entities/kit/base/loaded-once.ts';
import { isListed } from './address-classes.ts';

/** Free services that the package does not name. */
const unlisted: readonly string[] =
  `outlook.co outlook.com.ar hotmail.at hotmail.cl hotmail.com.ar hotmail.com.mx live.fi passport.com yahoo.cl myyahoo.com
   gmx.eu email.de mailbox.org tutanota.com tuta.com tutamail.com keemail.me zohomail.eu startmail.com disroot.org riseup.net hey.com
   internet.ru tin.it zoznam.sk dir.bg one.lt globo.com globomail.com btopenworld.com talktalk.net sympatico.ca telus.net walla.com
   netvision.net.il hispeed.ch`.split(/\s+/);

// The lists are loaded at the first use, because most processes need none.

/** Domains of services that give addresses for some minutes, and those below them. */
export const disposableDomains = loadedOnce(async (): Promise<ReadonlySet<string>> => {
  const { disposableEmailBlocklistSet } = await import('disposable-email-domains-js');
  return disposableEmailBlocklistSet();
});

/**
 * Domains of services that give addresses to everybody, exactly as they stand in addresses: what is below some of them, such as `net.ua`,
 * belongs to others. The package also names disposable domains, which are a class of their own here.
 */
export const freeDomains = loadedOnce(async (): Promise<ReadonlySet<string>> => {
  const [{ default: listed }, disposable] = await Promise.all([import('free-email-domains'), disposableDomains()]);
  return new Set([...listed.filter((domain) => !isListed(disposable, domain)), ...unlisted]);
});
