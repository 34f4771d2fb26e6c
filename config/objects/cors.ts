import { flag, list, map, object, text } from '../schema/field.ts';
import { webOrigin } from '../schema/format.ts';

const origin = text({
  description: 'A web origin, or `*` for every origin, which then gets no credentials.',
  format: webOrigin,
});

/** `server.cors` (specification: Server, CORS). */
export const cors = object('Which web pages of other origins may call the server.', {
  enabled: flag({ description: 'Answers cross-origin requests; off: browsers refuse them all.', default: true }),
  prefixes: map({
    description:
      'Origins allowed below a path prefix, instead of alloworigins; the longest matching prefix decides. Example: `/v1/public: ["*"]`.',
    keyLabel: 'path prefix',
    values: list({ description: 'The origins allowed below this prefix.', items: origin }),
  }),
  alloworigins: list({
    description: 'Origins allowed on every path without a prefix of its own. Empty: no other origin.',
    items: origin,
    fromDomain: (domain) => [`https://console.${domain}`, `https://docs.${domain}`, `https://www.${domain}`],
  }),
  cookieinsecure: flag({
    description:
      'Sends cookies of cross-origin answers without the Secure flag, for development over plain HTTP. Leave off in production.',
  }),
});
