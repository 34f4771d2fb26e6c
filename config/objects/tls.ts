import { flag, object, text } from '../schema/field.ts';

/** `server.tls`. */
export const tls = object('HTTPS on the address of `server.listen`.', {
  enabled: flag({
    description: 'Serves HTTPS instead of HTTP. Requires certfile and certkey, or autocert.',
    restart: true,
  }),
  certfile: text({
    description:
      'Path of the PEM file with the certificate chain. The file is read again when the configuration changes.',
  }),
  certkey: text({
    description:
      'Path of the PEM file with the private key of the certificate. The file is read again together with certfile.',
  }),
  autocert: flag({
    description:
      'Obtains and renews a certificate for `api.` + domain from a certificate authority (ACME). Requires a public domain; it does not work for localhost.',
    restart: true,
  }),
});
