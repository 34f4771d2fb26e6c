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

/** Separators within a name, and what follows `+`, make no other role of it. */
export function isRole(local: string): boolean {
  const [name = ''] = local.split('+');
  return roleNames.has(name.replaceAll(/[._-]/g, ''));
}
