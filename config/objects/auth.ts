import { flag, list, object, text } from '../schema/field.ts';
import { providers } from './providers.ts';
import { supportaccess } from './supportaccess.ts';
import { token } from './token.ts';

/** `auth` (specification: Auth; Authentication). */
export const auth = object('Authentication settings.', {
  enabled: flag({
    description: 'Authentication on or off. Off: no request is asked for credentials; never in production.',
    default: true,
    restart: true,
  }),
  token,
  supportedproviders: list({
    description: 'Providers offered for sign-in beside the password.',
    items: text({
      description: 'A provider.',
      values: ['codehost', 'identity', 'webauthn'],
    }),
  }),
  providers,
  supportaccess,
});
