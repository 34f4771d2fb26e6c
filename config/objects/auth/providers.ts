import { duration, flag, integer, list, object, secret, text } from '../../schema/field.ts';
import { domainName, httpUrl, urlOrPath, webOrigin } from '../../schema/format.ts';

/** Name and base URL of each provider. */
const about = {
  codehost: {
    what: 'GitHub, or a GitHub Enterprise server (OAuth 2.0)',
    base: 'URL of the GitHub Enterprise server, for example https://github.example.com. When empty, github.com is used.',
  },
  identity: {
    what: 'Google, or another OpenID Connect provider',
    base: 'Issuer URL of the OpenID Connect provider, for example https://login.example.com. When empty, Google is used.',
  },
} as const;

function oauthProvider(name: keyof typeof about) {
  return object(
    `Sign-in with ${about[name].what}. The object can be omitted while \`${name}\` is not in supportedproviders.`,
    {
      clientid: text({
        description: 'Client id at the provider. Required while the provider is in supportedproviders.',
      }),
      clientsecret: secret({
        description: 'Client secret at the provider. Required while the provider is in supportedproviders.',
      }),
      clientendpoint: text({
        description: `${about[name].base} The public address of this server, which domain sets, is treated as empty.`,
        format: httpUrl,
        fromDomain: (domain) => `https://api.${domain}`,
      }),
      scopes: list({
        description: 'Scopes that are requested in addition to those needed for sign-in.',
        items: text({ description: 'Name of a scope.', maxLength: 200 }),
      }),
      redirecturl: text({
        description:
          'Callback URL that is registered with the provider: a full URL, or a path below the public address of this server (integrations.email.apiurl, else auth.token.issuer). Required while the provider is in supportedproviders.',
        default: `/v1/${name}/callback`,
        format: urlOrPath,
      }),
    },
  );
}

/** `auth.providers`. */
export const providers = object('Sign-in with external providers and passkeys.', {
  redirecturl: text({
    description:
      'URL to which the browser is redirected after sign-in at a provider, unless the sign-in names another one of the same origin or of this server. When empty, it is redirected to the sign-in page of this server.',
    format: httpUrl,
    fromDomain: (domain) => `https://console.${domain}/login/sso`,
  }),
  codehost: oauthProvider('codehost'),
  identity: oauthProvider('identity'),
  webauthn: object(
    'Passkeys (WebAuthn). The object can be omitted while `webauthn` is neither enabled nor in supportedproviders.',
    {
      enabled: flag({
        description:
          'Offers registration of passkeys and sign-in with them. An entry `webauthn` in supportedproviders has the same effect.',
      }),
      displayname: text({
        description: 'Name of the server that authenticators show. Required while passkeys are on.',
        maxLength: 100,
      }),
      relyingpartyid: text({
        description:
          'Domain to which passkeys are bound (relying party id). After a change, existing passkeys no longer work. Required while passkeys are on.',
        format: domainName,
        fromDomain: (domain) => domain,
      }),
      requestorigins: list({
        description: 'Origins of the web pages that may request a passkey. Required while passkeys are on.',
        items: text({ description: 'A web origin.', format: webOrigin }),
        fromDomain: (domain) => [`https://console.${domain}`],
      }),
      maxdevices: integer({
        description: 'Maximum number of passkeys of one user.',
        unit: 'passkeys',
        default: 10,
        minimum: 1,
        maximum: 1000,
      }),
      enforcetimeout: flag({ description: 'Rejects a response that arrives after timeout.', default: true }),
      timeout: duration({
        description: 'Maximum duration of a registration or a sign-in while enforcetimeout is on.',
        default: 60_000,
        minimum: 1000,
        maximum: 3_600_000,
      }),
      debug: flag({ description: 'Logs the steps of each registration and sign-in, without secrets.' }),
    },
  ),
});
