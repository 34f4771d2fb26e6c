import { parseDomain, parseEmail } from '#entities/kit/base/email-address.ts';
import type { Format } from '../schema/format.ts';

/** An e-mail address as people write it: white space around it, capitals and domains beyond ASCII are accepted. */
export const mailAddress: Format = {
  name: 'an e-mail address',
  example: 'support@example.com',
  check: (text) => (parseEmail(text) === undefined ? 'is not an e-mail address' : undefined),
};

/** A domain of e-mail addresses as people write it. */
export const mailDomain: Format = {
  name: 'a domain of e-mail addresses',
  example: 'example.com',
  check: (text) => (parseDomain(text) === undefined ? 'is not a domain of e-mail addresses' : undefined),
};
