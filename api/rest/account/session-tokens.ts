import type { AccessClaims, IssuedToken } from '../../auth/access-token.ts';
import type { IssuedRefreshToken } from '../../auth/refresh-token.ts';
import { clientAddress } from '../../http/client-address.ts';
import type { Call } from '../../http/route.ts';

interface SessionTokens {
  readonly access: IssuedToken;
  readonly refresh: IssuedRefreshToken;
  /** What the session keeps about them. */
  readonly values: {
    readonly address: string;
    readonly lastSeenAt: Date;
    readonly expiresAt: Date;
    readonly activeOrganizationId: string | null;
    readonly refreshTokenHash: string;
  };
}

/** Issues both tokens of a session, which lasts as long as the refresh token. */
export async function issueTokens(
  { request, services }: Call<unknown>,
  claims: Pick<AccessClaims, 'userId' | 'organizationId' | 'sessionId'>,
): Promise<SessionTokens> {
  const { accessTokens, refreshTokens, clock } = services;
  const { userId, sessionId } = claims;
  const expiresAt = refreshTokens.sessionEnd();
  const access = await accessTokens.issue(claims, expiresAt);
  const refresh = await refreshTokens.issue({ userId, sessionId, expiresAt }, access.expiresAt);
  const values = {
    address: clientAddress(request, services),
    lastSeenAt: clock.now(),
    expiresAt,
    activeOrganizationId: claims.organizationId,
    refreshTokenHash: refresh.tokenHash,
  };
  return { access, refresh, values };
}
