import { hash } from 'node:crypto';
import type { Clock } from '#entities/kit/base/clock.ts';
import { randomTextPooled } from '#entities/kit/base/secrets/random-pool.ts';
import type { AccessClaims } from './access-token.ts';
import type { ApiTokens, PresentedToken } from './api-tokens.ts';
import type { DelegationClaims } from './delegation-token.ts';
import type { SignedLinks } from './signed-links.ts';

/**
 * Caller whose right is checked at each use of a link: a session, a token of a program, or the access of somebody who acts as somebody
 * else.
 */
type LinkPrincipal = AccessClaims | PresentedToken | DelegationClaims;

export interface LinkOptions {
  readonly disposition: 'attachment' | 'inline';
  readonly expiresInSeconds: number;
  /** Whether the link is good for one use. */
  readonly once: boolean;
}

export interface DownloadLink extends Pick<LinkOptions, 'disposition'> {
  readonly principal: LinkPrincipal;
  readonly expiresAt: Date;
  /** Only of a link that is good for one use: identifies it. */
  readonly nonce: Buffer | undefined;
}

type Content = readonly [
  objectId: string,
  organizationId: string | null,
  principal: Names,
  disposition: LinkOptions['disposition'],
  expiresAtSeconds: number,
  nonce: string,
  once: boolean,
];

/** Parts of a link that identify a principal. */
type Names =
  | readonly ['session', userId: string, sessionId: string]
  | readonly ['delegation', delegationId: string, type: DelegationClaims['type']]
  | readonly [sort: PresentedToken['sort'], tokenId: string, secrets: readonly SecretName[]];

/** A secret that a request has shown: the key that hashed it, and the fingerprint of the hash. */
type SecretName = readonly [keyId: string, fingerprint: string];

/**
 * Links with which a browser downloads a file without further credentials. They name who asked for them, and give no right: each use
 * decides again whether that principal may view the record of the file.
 */
export class DownloadLinks {
  readonly #links: SignedLinks;
  readonly #apiTokens: Pick<ApiTokens, 'acceptsKey'>;
  readonly #clock: Clock;

  constructor(links: SignedLinks, apiTokens: Pick<ApiTokens, 'acceptsKey'>, clock: Clock) {
    this.#links = links;
    this.#apiTokens = apiTokens;
    this.#clock = clock;
  }

  /** The token of a link to an object. */
  issue(objectId: string, principal: LinkPrincipal, { disposition, expiresInSeconds, once }: LinkOptions): string {
    const expiresAtSeconds = Math.floor(this.#clock.now().getTime() / 1_000) + expiresInSeconds;
    const nonce = randomTextPooled(16, 'base64url');
    const names = namesOf(principal);
    const content: Content = [objectId, principal.organizationId, names, disposition, expiresAtSeconds, nonce, once];
    return this.#links.issue('download', content);
  }

  /** @returns undefined for a token that this server has not issued for the object, or that has expired */
  open(objectId: string, token: string): DownloadLink | undefined {
    const content = this.#links.open('download', token) as Content | undefined;
    if (!content) return undefined;
    const [linkedId, organizationId, names, disposition, expiresAtSeconds, nonce, once] = content;
    const expiresAt = new Date(expiresAtSeconds * 1_000);
    if (linkedId !== objectId || expiresAt <= this.#clock.now()) return undefined;
    const principal = this.#principalOf(names, organizationId, expiresAt);
    return { principal, disposition, expiresAt, nonce: once ? Buffer.from(nonce, 'base64url') : undefined };
  }

  #principalOf(names: Names, organizationId: string | null, expiresAt: Date): LinkPrincipal {
    const [sort, id] = names;
    if (sort === 'session') return { tokenId: '', userId: id, sessionId: names[2], organizationId, expiresAt };
    if (sort === 'delegation') return { delegationId: id, type: names[2], organizationId: organizationId ?? '' };
    const accepted = names[2].filter(([keyId]) => this.#apiTokens.acceptsKey(keyId));
    const [keyIds, secretHashes] = [accepted.map(([keyId]) => keyId), accepted.map(([, print]) => print)];
    return { sort, tokenId: id, keyIds, secretHashes, organizationId, keptAs: '' };
  }
}

function namesOf(principal: LinkPrincipal): Names {
  if ('sessionId' in principal) return ['session', principal.userId, principal.sessionId];
  if ('delegationId' in principal) return ['delegation', principal.delegationId, principal.type];
  const { sort, tokenId, secretHashes, keyIds } = principal;
  return [sort, tokenId, secretHashes.map((each, index) => [keyIds[index] ?? '', fingerprint(each)])];
}

/**
 * Instead of the hash of a secret, which the database keeps, a link has the fingerprint of the hash (`token_context` accepts both). So a
 * link ends when the secret is replaced. No hash begins with its mark.
 */
function fingerprint(secretHash: string): string {
  return secretHash.startsWith('~') ? secretHash : `~${hash('sha256', secretHash).slice(0, 32)}`;
}
