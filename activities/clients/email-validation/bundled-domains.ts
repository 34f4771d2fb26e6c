import { loadedOnce } from '#entities/kit/base/loaded-once.ts';
import { domainAndParents } from './address-classes.ts';

/** Free services that the package does not name. */
const unlisted: readonly string[] =
  `outlook.co outlook.com.ar hotmail.at hotmail.cl hotmail.com.ar hotmail.com.mx live.fi passport.com yahoo.cl myyahoo.com
   gmx.eu email.de mailbox.org tutanota.com tuta.com tutamail.com keemail.me zohomail.eu startmail.com disroot.org riseup.net hey.com
   internet.ru tin.it zoznam.sk dir.bg one.lt globo.com globomail.com btopenworld.com talktalk.net sympatico.ca telus.net walla.com
   netvision.net.il hispeed.ch`.split(/\s+/);

/** Free services below which others have domains of their own. */
const suffixes: ReadonlySet<string> = new Set(['dyndns.org', 'net.ua', 'za.com']);

/** Large services, whose addresses no list of disposable domains may refuse: its publisher could refuse those of everybody. */
export const largeServices: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com outlook.com outlook.de outlook.fr hotmail.com hotmail.co.uk hotmail.de hotmail.es hotmail.fr hotmail.it live.com
   live.co.uk live.de live.fr msn.com yahoo.com yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it
   ymail.com icloud.com me.com mac.com aol.com gmx.com gmx.de gmx.net gmx.at gmx.ch web.de freenet.de t-online.de posteo.de mailbox.org
   mail.com proton.me protonmail.com pm.me tutanota.com tuta.com zoho.com fastmail.com hey.com duck.com yandex.com yandex.ru mail.ru ukr.net
   qq.com 163.com 126.com sina.com naver.com daum.net hanmail.net rediffmail.com libero.it virgilio.it orange.fr wanadoo.fr laposte.net free.fr
   sfr.fr wp.pl o2.pl onet.pl interia.pl seznam.cz abv.bg freemail.hu uol.com.br bol.com.br terra.com.br comcast.net verizon.net att.net
   sbcglobal.net bellsouth.net cox.net charter.net btinternet.com sky.com virginmedia.com bigpond.com xtra.co.nz rogers.com shaw.ca
   bluewin.ch telenet.be skynet.be ziggo.nl`.split(/\s+/),
);

// The lists are loaded at the first use, because most processes need none.

/** Domains of services that give addresses for some minutes, and those below them. */
export const disposableDomains = loadedOnce(async (): Promise<ReadonlySet<string>> => {
  const { disposableEmailBlocklistSet } = await import('disposable-email-domains-js');
  return disposableEmailBlocklistSet();
});

const freeDomains = loadedOnce(async (): Promise<ReadonlySet<string>> => {
  const { default: listed } = await import('free-email-domains');
  return new Set([...listed, ...unlisted]);
});

/** Whether a service gives addresses at the domain to everybody. The package also names many services for disposable addresses. */
export async function isFree(domain: string): Promise<boolean> {
  const free = await freeDomains();
  return domainAndParents(domain).some((one) => free.has(one) && (one === domain || !suffixes.has(one)));
}
