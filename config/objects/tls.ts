import { flag, object, text } from '../schema/field.ts';

/** `server.tls` (specification: Server, TLS). */
export const tls = object('HTTPS on `server.listen`.', {
  enabled: flag({
    description: 'Serves HTTPS instead of HTTP. Needs certfile and certkey, or autocert.',
    restart: true,
  }),
  certfile: text({
    description: 'Path of the PEM file with the certificate chain. Read again when the configuration changes.',
  }),
  certkey: text({
    description: 'Path of the PEM file with the private key of the certificate. Read again with certfile.',
  }),
  autocert: flag({
    description:
      'Obtains and renews the certificate from a certificate authority (ACME) for `api.` + domain. Needs a public domain; does not work on localhost.',
    restart: true,
  }),
});
