import { flag, list, map, object, text } from '../../schema/field.ts';
import { webOrigin } from '../../schema/format.ts';

const origin = text({
  description: 'A web origin, or `*` for every origin. Requests allowed by `*` cannot carry credentials.',
  format: webOrigin,
});

/** `server.cors`. */
export const cors = object('Cross-origin resource sharing: which web pages of other origins may call the server.', {
  enabled: flag({
    description: 'Sends CORS headers to allowed origins. When off, browsers block every cross-origin request.',
    default: true,
  }),
  prefixes: map({
    description:
      'Allowed origins by path prefix. For paths below a prefix they replace alloworigins; the longest matching prefix applies. Example: `/v1/public: ["*"]`.',
    keyLabel: 'path prefix',
    values: list({ description: 'Origins that are allowed below this prefix.', items: origin }),
  }),
  alloworigins: list({
    description:
      'Allowed origins for all paths that no entry of prefixes matches. When empty, no other origin is allowed.',
    items: origin,
    fromDomain: (domain) => [`https://console.${domain}`, `https://docs.${domain}`, `https://www.${domain}`],
  }),
  cookieinsecure: flag({
    description:
      'Sends cookies of cross-origin responses without the Secure attribute, for development over plain HTTP. Leave it off in production.',
  }),
});
