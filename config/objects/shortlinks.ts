import { duration, flag, object, secret, text } from '../schema/field.ts';
import { httpUrl } from '../schema/format.ts';

/** `shortlinks`. */
export const shortlinks = object('Service that shortens links.', {
  enabled: flag({
    description:
      'Shortens links in mails and notifications. When off, or when the service fails, the original link is used.',
  }),
  clientid: text({ description: 'Client id for requests to the service. When empty, edge.clientid is used.' }),
  clientsecret: secret({
    description: 'Client secret for requests to the service. When empty, edge.clientsecret is used.',
  }),
  endpointurl: text({
    description: 'URL of the request that creates a shortlink. Required while enabled.',
    format: httpUrl,
  }),
  linkttl: duration({
    description: 'Lifetime of a shortlink.',
    default: 7_776_000_000,
    minimum: 86_400_000,
    maximum: 315_360_000_000,
  }),
});
