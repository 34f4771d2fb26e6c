import type { session } from '#entities/identity/session.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { AccessClaims, IssuedToken } from '../../../auth/access-token.ts';
import type { IssuedRefreshToken } from '../../../auth/refresh-token.ts';
import { clientAddress } from '../../../http/limits/client-address.ts';
import type { Call } from '../../../http/route.ts';
import type { Home } from './home-organization.ts';

/** An access token, with the session cookie that browsers get beside it. */
export interface IssuedAccess extends IssuedToken {
  readonly sealedSession: string;
}

interface SessionTokens {
  readonly access: IssuedAccess;
  readonly refresh: IssuedRefreshToken;
  /** Part of the tokens that the session keeps. */
  readonly values: {
    readonly address: string;
    readonly lastSeenAt: Date;
    readonly expiresAt: Date;
    readonly activeOrganizationId: string | null;
    readonly refreshTokenHash: string;
  };
}

/** Claims of an access token of a session. */
interface Claims extends Pick<AccessClaims, 'userId' | 'sessionId'> {
  /** Where it is valid; null for nowhere. */
  readonly home: Home | null;
}

/** Issues an access token, which names the product modules of its organization for the client. @param endsAt when the session ends */
export async function issueAccess(
  { services }: Call<unknown>,
  { home, ...claims }: Claims,
  endsAt: Date,
): Promise<IssuedAccess> {
  const organizationId = home?.organizationId ?? null;
  const { productModules } = home ? (await services.contextOfCallers()).entitled(home) : { productModules: [] };
  const [access, sealedSession] = await Promise.all([
    services.accessTokens.issue({ ...claims, organizationId }, endsAt, productModules),
    services.sessionCookies.seal(claims.sessionId),
  ]);
  return { ...access, sealedSession };
}

/**
 * Time after which a session of single sign-on ends, however often its tokens are refreshed, in milliseconds: whether the provider still
 * lets the person in is asked again at the next sign-in.
 */
const singleSignOnLifetimeMs = 12 * 3_600_000;

/** Issues both tokens of a session, which lasts as long as the refresh token. @param begun how and when the session began */
export async function issueTokens(
  call: Call<unknown>,
  claims: Claims,
  begun: Pick<RowOf<typeof session>, 'singleSignOnId' | 'createdAt'>,
): Promise<SessionTokens> {
  const { request, services } = call;
  const { accessTokens, refreshTokens, clock } = services;
  const { userId, sessionId } = claims;
  const expiresAt = endOf(begun, refreshTokens.sessionEnd());
  const accessExpiresAt = accessTokens.expiry(expiresAt);
  const [access, refresh] = await Promise.all([
    issueAccess(call, claims, accessExpiresAt),
    refreshTokens.issue({ userId, sessionId, expiresAt }, accessExpiresAt),
  ]);
  const values = {
    address: clientAddress(request, services),
    lastSeenAt: clock.now(),
    expiresAt,
    activeOrganizationId: claims.home?.organizationId ?? null,
    refreshTokenHash: refresh.tokenHash,
  };
  return { access, refresh, values };
}

function endOf(
  { singleSignOnId, createdAt }: Pick<RowOf<typeof session>, 'singleSignOnId' | 'createdAt'>,
  refreshed: Date,
): Date {
  if (singleSignOnId === null) return refreshed;
  return new Date(Math.min(refreshed.getTime(), createdAt.getTime() + singleSignOnLifetimeMs));
}
