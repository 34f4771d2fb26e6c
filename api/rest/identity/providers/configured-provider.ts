import { publicApiUrl } from '#config/objects/public-api-url.ts';
import type { Config } from '#config/objects/root.ts';
import type { ProviderSettings } from '../../../auth/sign-in-providers.ts';

/** Sign-in providers of this server. */
export const providerNames = ['codehost', 'identity'] as const;
export type ProviderName = (typeof providerNames)[number];

/** The settings of a provider; undefined unless `auth.supportedproviders` names it. */
export function configuredProvider(config: Config, name: ProviderName): ProviderSettings | undefined {
  const { supportedproviders, providers } = config.auth;
  if (!supportedproviders.includes(name)) return undefined;
  const { clientid, clientsecret, clientendpoint, scopes, redirecturl } = providers[name];
  const own = publicApiUrl(config);
  const base = clientendpoint.replace(/\/+$/, '');
  // `domain` sets it to the address of this server, which is no provider.
  const isPublic = base === '' || base === own;
  const { needed, ...service } =
    name === 'codehost' ? codehost(isPublic ? undefined : base) : identity(isPublic ? undefined : clientendpoint);
  return {
    ...service,
    clientId: clientid,
    clientSecret: clientsecret,
    scopes: [...new Set([...needed, ...scopes])],
    callbackUrl: redirecturl.startsWith('/') ? own + redirecturl : redirecturl,
    rules: { isDev: config.server.dev, allowsPrivate: true },
  };
}

type Service = Pick<ProviderSettings, 'issuer' | 'endpoints'> & { readonly needed: readonly string[] };

function identity(issuer = 'https://accounts.google.com'): Service {
  return { issuer, needed: ['openid', 'email', 'profile'] };
}

function codehost(base?: string): Service {
  const issuer = base ?? 'https://github.com';
  const api = base === undefined ? 'https://api.github.com' : `${base}/api/v3`;
  return {
    issuer,
    needed: ['read:user', 'user:email'],
    endpoints: {
      metadata: {
        issuer,
        authorization_endpoint: `${issuer}/login/oauth/authorize`,
        token_endpoint: `${issuer}/login/oauth/access_token`,
        token_endpoint_auth_methods_supported: ['client_secret_post'],
      },
      user: `${api}/user`,
      emails: `${api}/user/emails`,
    },
  };
}
