import { duration, flag, object, secret, text } from '../schema/field.ts';
import { httpUrl } from '../schema/format.ts';

/** `shortlinks` (specification: Shortlinks). */
export const shortlinks = object('Shortlink service.', {
  enabled: flag({
    description: 'Shortens links in mails and notifications; off, or when the service fails: the long link is used.',
  }),
  clientid: text({ description: 'Access client id. Empty: edge.clientid.' }),
  clientsecret: secret({ description: 'Access client secret. Empty: edge.clientsecret.' }),
  endpointurl: text({ description: 'URL that creates a shortlink. Required while enabled.', format: httpUrl }),
  linkttl: duration({
    description: 'Lifetime of a shortlink.',
    default: 7_776_000_000,
    minimum: 86_400_000,
    maximum: 315_360_000_000,
  }),
});
