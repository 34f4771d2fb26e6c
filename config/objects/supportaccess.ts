import { flag, object, secret, text } from '../schema/field.ts';
import { domainName, emailAddress, httpUrl, ulid } from '../schema/format.ts';

/** `auth.supportaccess` (specification: Auth, Support access). */
export const supportaccess = object('Support access: a virtual identity that needs two factors and has no user row.', {
  enabled: flag({ description: 'Serves the support access endpoints; off: they answer 404.' }),
  email: text({
    description: 'The identity, and user name of the first factor. Required while enabled.',
    format: emailAddress,
  }),
  displayname: text({ description: 'Name recorded as author of changes.', default: 'Support', maxLength: 100 }),
  subjectid: text({
    description: 'ULID recorded in created_by and updated_by; no user row has it. Required while enabled.',
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
  issuerurl: text({ description: 'Issuer of the second factor. Required while enabled.', format: httpUrl }),
  discoveryendpoint: text({ description: 'URL of its discovery document. Empty: below issuerurl.', format: httpUrl }),
  redirecturl: text({
    description: 'Callback registered with the provider of the second factor. Required while enabled.',
    format: httpUrl,
  }),
  alloweddomain: text({
    description: 'The only e-mail domain whose users may complete the second factor. Required while enabled.',
    format: domainName,
  }),
});
