import type { Clock } from '#entities/kit/base/clock.ts';
import { randomTextPooled } from '#entities/kit/base/secrets/random-pool.ts';
import type { AccessClaims } from './access-token.ts';
import type { SignedLinks } from './signed-links.ts';

/** Time for which a link is valid, in seconds. */
const portalLinkSeconds = 3_600;

/** A link to the portal of endpoints, and whose right each use of it decides. */
export interface PortalLink {
  readonly principal: AccessClaims;
  /** The endpoint that it shows; null for all of the organization. */
  readonly endpointId: string | null;
}

type Content = readonly [
  endpointId: string | null,
  organizationId: string | null,
  userId: string,
  sessionId: string,
  expiresAtSeconds: number,
  nonce: string,
];

/**
 * Links with which people without an account see endpoints and what was sent to them. They name the session of who made them, and give no
 * right: each use decides again whether that person may do it.
 */
export class PortalLinks {
  readonly #links: SignedLinks;
  readonly #clock: Clock;

  constructor(links: SignedLinks, clock: Clock) {
    this.#links = links;
    this.#clock = clock;
  }

  /** The token of a link, and when it ends. */
  issue(
    { userId, sessionId, organizationId }: AccessClaims,
    endpointId: string | null,
  ): { readonly token: string; readonly expiresAt: Date } {
    const expiresAtSeconds = Math.floor(this.#clock.now().getTime() / 1_000) + portalLinkSeconds;
    const nonce = randomTextPooled(16, 'base64url');
    const content: Content = [endpointId, organizationId, userId, sessionId, expiresAtSeconds, nonce];
    return { token: this.#links.issue('portal', content), expiresAt: new Date(expiresAtSeconds * 1_000) };
  }

  /** @returns undefined for a token that this server has not issued for the portal, or that has expired */
  open(token: string): PortalLink | undefined {
    const content = this.#links.open('portal', token) as Content | undefined;
    if (!content) return undefined;
    const [endpointId, organizationId, userId, sessionId, expiresAtSeconds] = content;
    const expiresAt = new Date(expiresAtSeconds * 1_000);
    if (expiresAt <= this.#clock.now()) return undefined;
    return { principal: { tokenId: '', userId, sessionId, organizationId, expiresAt }, endpointId };
  }
}
