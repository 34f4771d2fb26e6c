import { parseEmail, type EmailAddress } from '#entities/kit/base/email-address.ts';

/** An address at a domain of at least two labels (RFC 5321, section 2.3.5): the Internet knows no other. */
export function publicAddress(email: string): EmailAddress | undefined {
  const address = parseEmail(email);
  return address?.domain.includes('.') ? address : undefined;
}

/** A domain and those above it, up to the one below the top level: subdomains belong to who has the domain. */
export function domainAndParents(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_label, index) => labels.slice(index).join('.'));
}

/** Whether a list has the domain or one above it. @param domains in lower case */
export function isListed(domains: ReadonlySet<string>, domain: string): boolean {
  return domainAndParents(domain).some((one) => domains.has(one));
}

/** Services at which everybody gets an address for nothing. */
const freeDomains: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com
   outlook.com outlook.at outlook.be outlook.cl outlook.co outlook.co.id outlook.co.il outlook.co.th outlook.com.ar outlook.com.au
   outlook.com.br outlook.com.gr outlook.com.tr outlook.com.vn outlook.cz outlook.de outlook.dk outlook.es outlook.fr outlook.hu
   outlook.ie outlook.in outlook.it outlook.jp outlook.kr outlook.lv outlook.my outlook.ph outlook.pt outlook.sa outlook.sg outlook.sk
   hotmail.com hotmail.at hotmail.be hotmail.ca hotmail.ch hotmail.cl hotmail.co.il hotmail.co.jp hotmail.co.nz hotmail.co.th
   hotmail.co.uk hotmail.com.ar hotmail.com.au hotmail.com.br hotmail.com.mx hotmail.com.tr hotmail.de hotmail.dk hotmail.es
   hotmail.fi hotmail.fr hotmail.gr hotmail.hu hotmail.it hotmail.nl hotmail.no hotmail.se
   live.com live.at live.be live.ca live.cl live.cn live.co.uk live.co.za live.com.ar live.com.au live.com.mx live.com.pt live.de
   live.dk live.fi live.fr live.ie live.in live.it live.jp live.nl live.no live.se msn.com passport.com windowslive.com
   yahoo.com yahoo.at yahoo.be yahoo.ca yahoo.ch yahoo.cl yahoo.co.id yahoo.co.in yahoo.co.jp yahoo.co.kr yahoo.co.nz yahoo.co.th
   yahoo.co.uk yahoo.co.za yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.cn yahoo.com.co yahoo.com.hk yahoo.com.mx yahoo.com.my
   yahoo.com.ph yahoo.com.sg yahoo.com.tr yahoo.com.tw yahoo.com.vn yahoo.cz yahoo.de yahoo.dk yahoo.es yahoo.fi yahoo.fr yahoo.gr
   yahoo.hu yahoo.ie yahoo.in yahoo.it yahoo.nl yahoo.no yahoo.pl yahoo.pt yahoo.ro yahoo.se ymail.com rocketmail.com myyahoo.com
   icloud.com me.com mac.com aol.com aol.co.uk aol.de aol.fr aim.com
   gmx.com gmx.de gmx.net gmx.at gmx.ch gmx.eu gmx.fr gmx.us web.de mail.de email.de freenet.de t-online.de posteo.de mailbox.org
   mail.com email.com usa.com consultant.com engineer.com
   proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com tutamail.com keemail.me
   zoho.com zohomail.com zohomail.eu fastmail.com fastmail.fm hushmail.com hush.com startmail.com runbox.com disroot.org riseup.net
   hey.com duck.com lycos.com excite.com inbox.com juno.com netzero.net usa.net
   yandex.com yandex.ru yandex.by yandex.kz yandex.ua ya.ru mail.ru bk.ru inbox.ru list.ru internet.ru rambler.ru ukr.net i.ua
   qq.com foxmail.com 163.com 126.com yeah.net 139.com 189.cn sina.com sina.cn sohu.com aliyun.com tom.com 21cn.com
   naver.com daum.net hanmail.net nate.com rediffmail.com
   libero.it virgilio.it tiscali.it alice.it tin.it orange.fr wanadoo.fr laposte.net free.fr sfr.fr neuf.fr
   wp.pl o2.pl onet.pl onet.eu interia.pl interia.eu op.pl poczta.onet.pl seznam.cz email.cz centrum.cz post.cz azet.sk zoznam.sk
   freemail.hu citromail.hu abv.bg mail.bg dir.bg inbox.lv inbox.lt one.lt mail.ee
   uol.com.br bol.com.br terra.com.br ig.com.br globo.com globomail.com terra.com terra.es
   comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net optonline.net
   btinternet.com btopenworld.com virginmedia.com ntlworld.com sky.com talktalk.net blueyonder.co.uk
   bigpond.com optusnet.com.au xtra.co.nz sympatico.ca rogers.com shaw.ca telus.net
   mailfence.com mail2world.com gawab.com maktoob.com walla.co.il walla.com netvision.net.il bluewin.ch hispeed.ch telenet.be skynet.be
   ziggo.nl planet.nl home.nl kpnmail.nl telfort.nl`.split(/\s+/),
);

/** Names that stand for a function and not for a person (RFC 2142, and what is usual besides). */
const roleNames: ReadonlySet<string> = new Set(
  `abuse accountant accounting accounts admin administration administrator admins all alerts analytics billing board bookings bot
   bounce bounces careers ceo cert cfo communications compliance contact contacts contactus cs csirt customercare customerservice
   customersupport data dev developer developers devnull devops directors dns domain donotreply editor education email employees
   engineering enquiries enquiry errors events everyone executives facilities faq feedback finance founder founders ftp gdpr hello
   help helpdesk hi hiring host hostmaster hr info information inquiries inquiry investors invoice invoices ipadmin is it itsupport
   jobs legal list listmaster lists listserv logs mail mailerdaemon mailinglist mailmaster management manager marketing media members
   monitoring news newsletter nobody noc noreply notifications nullmailer office operations ops order orders owner partners
   partnerships payments payroll people postmaster pr press privacy procurement purchasing receipts reception recruiting recruitment
   registrar registration reply reports reservations returns root sale sales secretary security service services shop spam staff
   status subscribe subscriptions support survey sysadmin system team tech technical techsupport test trust unsubscribe usenet users
   uucp vendors web webadmin webmaster welcome wholesale work www`.split(/\s+/),
);

export function isFree(domain: string): boolean {
  return isListed(freeDomains, domain);
}

/** Separators within a name, and what follows `+`, make no other role of it. */
export function isRole(local: string): boolean {
  const [name = ''] = local.split('+');
  return roleNames.has(name.replaceAll(/[._-]/g, ''));
}
