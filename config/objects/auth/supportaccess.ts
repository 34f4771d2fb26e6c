import { flag, object, secret, text } from '../../schema/field.ts';
import { httpUrl, ulid } from '../../schema/format.ts';
import { mailAddress, mailDomain } from '../mail-formats.ts';

/** `auth.supportaccess`. */
export const supportaccess = object(
  'Support access: an identity for support staff that signs in with two factors and is not a row of the users table.',
  {
    enabled: flag({ description: 'Serves the endpoints of support access. When off, they respond with 404.' }),
    email: text({
      description:
        'E-mail address of the identity, which is the user name of the first factor. Required while enabled.',
      format: mailAddress,
    }),
    displayname: text({
      description: 'Name that is recorded as the author of changes.',
      default: 'Support',
      maxLength: 100,
    }),
    subjectid: text({
      description:
        'ULID that is recorded in `created_by` and `updated_by`. It must not be the id of a user. Required while enabled.',
      format: ulid,
    }),
    password: secret({
      description: 'Shared password of the first factor, at least 16 characters. Required while enabled.',
      minLength: 16,
    }),
    clientid: text({ description: 'Client id at the identity provider of the second factor. Required while enabled.' }),
    clientsecret: secret({
      description: 'Client secret at the identity provider of the second factor. Required while enabled.',
    }),
    issuerurl: text({
      description: 'Issuer URL of the identity provider of the second factor. Required while enabled.',
      format: httpUrl,
    }),
    discoveryendpoint: text({
      description:
        'URL of the discovery document of the identity provider. When empty, it is looked up below issuerurl.',
      format: httpUrl,
    }),
    redirecturl: text({
      description:
        'Callback URL that is registered with the identity provider of the second factor. Required while enabled.',
      format: httpUrl,
    }),
    alloweddomain: text({
      description: 'E-mail domain of the people who may complete the second factor. Required while enabled.',
      format: mailDomain,
    }),
  },
);
