import { hash } from 'node:crypto';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { organization } from '#entities/organizations/organization.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { openSecret, sealSecret } from '#entities/kit/base/secrets/sealed-secret.ts';
import type { ProviderSettings } from '../../../auth/sign-in-providers.ts';
import type { SignInState } from '../../../auth/sign-in-state.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call } from '../../../http/route.ts';
import type { Services } from '../../../http/services.ts';

export type Provider = RowOf<typeof identityProvider>;

/** The provider of an organization, and how it is asked. */
interface OrganizationProvider {
  readonly row: Provider;
  readonly settings: ProviderSettings;
  /** Content of the state of a sign-in there. */
  readonly intent: Pick<SignInState, 'provider' | 'organizationId' | 'settings'>;
}

/**
 * Reads the provider of an organization in a transaction that ends before the provider is asked. Nobody signs in at one with which no
 * manager has, except to test it.
 * @throws AppError not_found, the same for an organization that does not exist
 */
export async function organizationProvider(
  call: Call<unknown>,
  organizationId: string,
  { isTest = false }: { readonly isTest?: boolean } = {},
): Promise<OrganizationProvider> {
  const { services } = call;
  const row = await transactApart(call, async ({ data }) => {
    const home = await data.findOne(organization, { id: { eq: organizationId } });
    if (!home || home.isPersonal) return undefined;
    return data.findOne(identityProvider, { organizationId: { eq: organizationId } });
  });
  if (!row && isTest) throw noProvider();
  if (!row || !(row.testedAt || isTest))
    throw new AppError('not_found', 'There is no organization with this id that has single sign-on.');
  const config = services.config.current;
  const { secret } = await openSecret(row.clientSecret, secretOf(services, organizationId));
  const settings = {
    issuer: row.issuer,
    clientId: row.clientId,
    clientSecret: secret,
    scopes: ['openid', 'email', 'profile'],
    callbackUrl: `${publicApiUrl(config)}/v1/sso/callback`,
    rules: { isDev: config.server.dev, allowsPrivate: false },
  };
  return { row, settings, intent: { provider: 'single_sign_on', organizationId, settings: providerDigest(row) } };
}

/** Runs work of the server in a transaction of its own, which stays whatever becomes of the request. */
export function transactApart<T>(
  { services, request }: Call<unknown>,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  return services.database.transact(workOf(request.core, systemCaller('single sign-on')), work);
}

/** The error for managers of an organization without a provider; the same for people who may not see it. */
export function noProvider(): AppError {
  return new AppError('not_found', 'The organization has no single sign-on; set it with PUT /v1/sso/provider.');
}

/** Encrypts the client secret of an organization. */
export function sealClientSecret(services: Services, organizationId: string, secret: string): Promise<string> {
  return sealSecret(secret, secretOf(services, organizationId));
}

function secretOf({ config }: Services, organizationId: string) {
  const secrets = config.current.sessions.encryptionkey;
  return { secrets, purpose: 'identity-provider-secret', subject: organizationId } as const;
}

/** With which provider and client a sign-in or a test began: it is not valid for others. */
export function providerDigest({ issuer, clientId, clientSecret }: Provider): string {
  return hash('sha256', JSON.stringify([issuer, clientId, clientSecret]), 'base64url');
}
