import type { OAuthClient } from '../oauth/oauth-client.ts';
import type { OpeningContext } from '../definition.ts';

const usualUrl = 'https://login.microsoftonline.com';

/** Form of the id of a tenant, which becomes a part of URLs. */
export const tenantIdPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Form of what names a tenant: its id, or one of its domains. */
export const tenantNamePattern = String.raw`^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?$`;

/** Stands for the tenant of whoever signs in. */
export const anyTenant = 'organizations';

/** The sign-in server as one tenant has it, whose metadata are fixed. @param tenant its id, or `organizations` */
export function loginServer(
  { baseUrl }: Pick<OpeningContext, 'baseUrl'>,
  tenant: string,
  { clientid, clientsecret }: { readonly clientid: string; readonly clientsecret: string },
): OAuthClient {
  const base = `${baseUrl(usualUrl)}/${tenant}`;
  const issuer = `${base}/v2.0`;
  return {
    issuer,
    clientId: clientid,
    clientSecret: clientsecret,
    metadata: {
      issuer,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
      jwks_uri: `${base}/discovery/v2.0/keys`,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
      id_token_signing_alg_values_supported: ['RS256'],
    },
  };
}

/** Where an administrator of a tenant lets the app in. @param tenant its id or domain, or `organizations` */
export function consentUrl(
  { baseUrl }: Pick<OpeningContext, 'baseUrl'>,
  tenant: string,
  parameters: Readonly<Record<string, string>>,
): string {
  const url = new URL(`${baseUrl(usualUrl)}/${tenant}/v2.0/adminconsent`);
  url.search = new URLSearchParams(parameters).toString();
  return url.href;
}
