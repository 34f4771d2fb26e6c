import { flag, object, text } from '../../schema/field.ts';

/** `server.tls`. */
export const tls = object(
  'HTTPS on the address of `server.listen`: HTTP/2, and HTTP/1.1 for clients without it, with TLS 1.2 and newer.',
  {
    enabled: flag({
      description: 'Serves HTTPS instead of HTTP. Requires certfile and certkey, or autocert.',
      restart: true,
    }),
    certfile: text({
      description:
        'Path of the PEM file with the certificate chain, that of the server first. Within seconds after a change of the file, new connections get the new certificate; one that cannot be used is logged, and the previous one stays in use.',
    }),
    certkey: text({
      description:
        'Path of the PEM file with the private key of the certificate, without a passphrase. It is followed together with certfile. It must not be readable by all users.',
    }),
    autocert: flag({
      description:
        'Obtains the certificate from a certificate authority (ACME, RFC 8555), and renews it when a third of its lifetime is left, instead of certfile and certkey. It is for the name in integrations.email.apiurl (`api.` and the domain). The authority must reach server.listen at port 443 of that name; it does not work on localhost. By default the authority is Let’s Encrypt, to whose terms of service this agrees; `ACME_DIRECTORY_URL` names another one.',
      restart: true,
    }),
  },
);
