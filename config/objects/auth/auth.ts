import { flag, list, object, text } from '../../schema/field.ts';
import { providers } from './providers.ts';
import { supportaccess } from './supportaccess.ts';
import { token } from './token.ts';

/** `auth`. */
export const auth = object('Authentication settings.', {
  enabled: flag({
    description:
      'Requires credentials for protected requests. When off, requests without credentials run for the active user who signed up first, in the organization that this user joined first; credentials that are sent are checked as usual. Only requests to localhost or to an IP address are served like this. Requires server.dev or a loopback address in server.listen. Never turn it off in production.',
    default: true,
    restart: true,
  }),
  token,
  supportedproviders: list({
    description: 'Providers that people can sign in with, in addition to the password.',
    items: text({
      description: 'Name of a provider.',
      values: ['codehost', 'identity', 'webauthn'],
    }),
  }),
  providers,
  supportaccess,
});
