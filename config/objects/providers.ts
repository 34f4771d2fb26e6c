import { duration, flag, integer, list, object, secret, text } from '../schema/field.ts';
import { domainName, httpUrl, urlOrPath, webOrigin } from '../schema/format.ts';

function oauthProvider(name: string) {
  return object(
    `Sign-in with the OAuth 2.0 provider \`${name}\`. May be left out while \`${name}\` is not in supportedproviders.`,
    {
      clientid: text({ description: 'Client id that the provider gave. Required while the provider is supported.' }),
      clientsecret: secret({
        description: 'Client secret that the provider gave. Required while the provider is supported.',
      }),
      clientendpoint: text({
        description:
          'Base URL of this server in the callback: clientendpoint + redirecturl is what the provider calls.',
        format: httpUrl,
        fromDomain: (domain) => `https://api.${domain}`,
      }),
      scopes: list({
        description: 'Scopes asked for in addition to those that sign-in needs.',
        items: text({ description: 'A scope.', maxLength: 200 }),
      }),
      redirecturl: text({
        description:
          'Callback registered with the provider: a path below clientendpoint, or a full URL. Required while the provider is supported.',
        default: `/v1/${name}/callback`,
        format: urlOrPath,
      }),
    },
  );
}

/** `auth.providers` (specification: Auth, Providers). */
export const providers = object('Sign-in by external providers and passkeys.', {
  redirecturl: text({
    description: 'Where browsers are sent after authentication at a provider.',
    format: httpUrl,
    fromDomain: (domain) => `https://console.${domain}/login/sso`,
  }),
  codehost: oauthProvider('codehost'),
  identity: oauthProvider('identity'),
  webauthn: object('Passkeys. May be left out while `webauthn` is neither enabled nor in supportedproviders.', {
    enabled: flag({
      description:
        'Registration of passkeys and sign-in with them. The same as naming `webauthn` in supportedproviders.',
    }),
    displayname: text({
      description: 'Name that authenticators show. Required while passkeys are on.',
      maxLength: 100,
    }),
    relyingpartyid: text({
      description:
        'Domain that passkeys are bound to; changing it makes existing passkeys useless. Required while passkeys are on.',
      format: domainName,
      fromDomain: (domain) => domain,
    }),
    requestorigins: list({
      description: 'Origins of the pages that may ask for a passkey.',
      items: text({ description: 'A web origin.', format: webOrigin }),
      fromDomain: (domain) => [`https://console.${domain}`],
    }),
    maxdevices: integer({
      description: 'Most passkeys of one user.',
      unit: 'passkeys',
      default: 10,
      minimum: 1,
      maximum: 1000,
    }),
    enforcetimeout: flag({ description: 'Refuses an answer that comes later than timeout.', default: true }),
    timeout: duration({
      description: 'How long a registration or sign-in may take, when enforcetimeout is on.',
      default: 60_000,
      minimum: 1000,
      maximum: 3_600_000,
    }),
    debug: flag({ description: 'Logs the steps of each ceremony, without secrets.' }),
  }),
});
