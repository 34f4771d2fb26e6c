import { domainToASCII } from 'node:url';

/** An address of which mail can be delivered to, in the form in which addresses are stored and compared. */
export interface EmailAddress {
  readonly local: string;
  /** In lower case, as ASCII (UTS 46): `xn--bcher-kva.example` for `bücher.example`. */
  readonly domain: string;
  /** Both parts. */
  readonly address: string;
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** At most one label is needed: a server without a domain has users as well. A name whose last label is a number is an IP address. */
const domainName = new RegExp(`^(?:${label}\\.)*(?!\\d+$)${label}$`);
/** RFC 5321, section 4.1.2 (Dot-string); quoted names are read differently by different servers. */
const localPart = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Characters that end a host in a URL, which `domainToASCII` reads, and other characters of ASCII that no domain has. */
const foreign = /[^a-z0-9.\u0080-\u{10FFFF}-]/u;

/** Maximum lengths in octets (RFC 5321, section 4.5.3.1). */
const maxLocal = 64;
const maxDomain = 253;

/**
 * The one reading of an address, wherever it comes from: forms, documents, providers, configuration. White space around it is not part of it.
 * @returns undefined for what is no address: without or with two `@`, quoted names, IP addresses
 */
export function parseEmail(text: string): EmailAddress | undefined {
  const [local = '', given, ...more] = text.trim().toLowerCase().split('@');
  if (given === undefined || more.length > 0 || local.length > maxLocal || !localPart.test(local)) return undefined;
  const domain = parseDomain(given);
  return domain === undefined ? undefined : { local, domain, address: `${local}@${domain}` };
}

/** The form of a domain in which it is stored and compared; undefined for what is no domain of addresses. */
export function parseDomain(text: string): string | undefined {
  const given = text.trim().toLowerCase();
  if (foreign.test(given)) return undefined;
  const domain = domainToASCII(given);
  return domain.length <= maxDomain && domainName.test(domain) ? domain : undefined;
}

/** The form in which an address is stored and looked up; what is no address only loses its case, and is found nowhere. */
export function emailForm(text: string): string {
  return parseEmail(text)?.address ?? text.trim().toLowerCase();
}
