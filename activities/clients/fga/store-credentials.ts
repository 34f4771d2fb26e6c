import { CredentialsMethod, type UserClientConfigurationParams } from '@openfga/sdk';
import type { Config } from '#config/objects/root.ts';

/** How this server identifies itself to the store: a key, tokens that the SDK asks the issuer for, or not at all. */
export function storeCredentials({
  apitoken,
  clientid,
  clientsecret,
  audience,
  issuer,
  scopes,
}: Config['authz']['credentials']): Pick<UserClientConfigurationParams, 'credentials'> {
  if (apitoken !== '') return { credentials: { method: CredentialsMethod.ApiToken, config: { token: apitoken } } };
  if (clientid === '') return {};
  const config = {
    clientId: clientid,
    clientSecret: clientsecret,
    apiAudience: audience,
    apiTokenIssuer: new URL(/^https?:\/\//u.test(issuer) ? issuer : `https://${issuer}`).href,
    // RFC 6749, section 4.4.2: the SDK has no field of its own for it.
    ...(scopes === '' ? {} : { customClaims: { scope: scopes } }),
  };
  return { credentials: { method: CredentialsMethod.ClientCredentials, config } };
}
