import { createHmac, hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Config } from '#config/objects/root.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';

type Settings = Config['auth']['token']['apitokens'];
type Sort = 'api' | 'personal';

/** First part of personal tokens; that of API tokens is configured (`auth.token.apitokens.prefix`). */
const personalPrefix = 'pat';

/** Maximum length of a token in characters: prefix, id, and 128 bytes in base64url. */
const maxLength = 300;

/** Number of tokens whose hashes are kept. */
const maxKept = 10_000;

/** Characters at the end of a token that lists show. */
const hintLength = 4;

/** A token as a request shows it. Whether there is such a token, the database says. */
export interface PresentedToken {
  readonly sort: Sort;
  readonly tokenId: string;
  /** Hashes of the secret by each key that verifies. */
  readonly secretHashes: readonly string[];
  /** Ids of these keys, in the same order. */
  readonly keyIds: readonly string[];
  /** The organization in which the request wants to act; null for that of the token. */
  readonly organizationId: string | null;
  /** The name under which it is kept, which does not reveal the token; empty for the token of a link, which is not kept. */
  readonly keptAs: string;
}

/** A new token, and what its record keeps of it. */
interface IssuedSecret {
  readonly id: string;
  /** The whole token; it is shown once. */
  readonly token: string;
  readonly values: { readonly keyId: string; readonly secretHash: string; readonly hint: string };
}

interface Kept {
  readonly presented: PresentedToken;
  readonly settings: Settings;
}

/**
 * Issues and reads API tokens and personal tokens: `<prefix><delimiter><id><delimiter><secret>`. Their secret is random; what is
 * stored is its HMAC with a configured key, so a copy of the database gives nobody a token, and a key that is revoked ends all of its
 * tokens at once.
 */
export class ApiTokens {
  readonly #settings: () => Settings;
  readonly #kept = new LRUCache<string, Kept>({ max: maxKept });

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  /**
   * @param id of the token whose secret is replaced; a new one when left out
   * @throws AppError permission_denied while API tokens are switched off
   */
  issue(sort: Sort, id = newId()): IssuedSecret {
    const settings = this.#settings();
    const active = Object.entries(settings.keys).find(([, { status }]) => status === 'active');
    if (!settings.enabled || !active) throw new AppError('permission_denied', noTokens(sort));
    const [keyId, key] = active;
    const secret = randomBytes(settings.secretsize).toString('base64url');
    return {
      id,
      token: beginningOf(sort, settings) + id + settings.delimiter + secret,
      values: { keyId, secretHash: secretHash(key.secret, sort, id, secret), hint: secret.slice(-hintLength) },
    };
  }

  /**
   * Reads a token of a request. The result is the same object as long as the token is kept (`keep`) and the settings stay.
   * @param organizationId in which the request wants to act
   * @returns undefined for what does not have the form of a token, and for all tokens while they are switched off
   */
  read(token: string, organizationId: string | null): PresentedToken | undefined {
    const settings = this.#settings();
    if (!settings.enabled || token.length > maxLength) return undefined;
    const sort = (['api', 'personal'] as const).find((each) => token.startsWith(beginningOf(each, settings)));
    if (!sort) return undefined;
    const keptAs = `${hash('sha256', token, 'base64url')} ${organizationId ?? ''}`;
    const kept = this.#kept.get(keptAs);
    if (kept?.settings === settings) return kept.presented;
    const rest = token.slice(beginningOf(sort, settings).length);
    const [tokenId, delimiter, secret] = [
      rest.slice(0, idLength),
      rest.slice(idLength, idLength + 1),
      rest.slice(idLength + 1),
    ];
    if (!isId(tokenId) || delimiter !== settings.delimiter || secret === '') return undefined;
    const keys = Object.entries(settings.keys).filter(([, { status }]) => status !== 'revoked');
    const secretHashes = keys.map(([, key]) => secretHash(key.secret, sort, tokenId, secret));
    return { sort, tokenId, secretHashes, keyIds: keys.map(([id]) => id), organizationId, keptAs };
  }

  /** Why `read` takes a token for none although it begins like one: by its form and the settings alone. Undefined for all others. */
  misreadReason(token: string): string | undefined {
    const settings = this.#settings();
    const sort = (['api', 'personal'] as const).find((each) => token.startsWith(beginningOf(each, settings)));
    if (!sort) return undefined;
    return settings.enabled
      ? 'The token is not complete: send the whole value of "token" in the response that created it.'
      : noTokens(sort);
  }

  /** Whether tokens whose secret was hashed with the key are accepted. */
  acceptsKey(keyId: string): boolean {
    const { enabled, keys } = this.#settings();
    const status = Object.hasOwn(keys, keyId) ? keys[keyId]?.status : undefined;
    return enabled && status !== undefined && status !== 'revoked';
  }

  /** Keeps what was read of a token that the database knows; others would displace those that are used. */
  keep(presented: PresentedToken): void {
    if (presented.keptAs === '') return;
    this.#kept.set(presented.keptAs, { presented, settings: this.#settings() });
  }
}

function noTokens(sort: Sort): string {
  return `This installation accepts no ${sort === 'api' ? 'API' : 'personal'} tokens: auth.token.apitokens.enabled is off.`;
}

const idLength = 26;

function beginningOf(sort: Sort, { prefix, delimiter }: Settings): string {
  return (sort === 'api' ? prefix : personalPrefix) + delimiter;
}

/** Sort and id are part of the hashed text, so that no secret is valid for another token. */
function secretHash(key: string, sort: Sort, id: string, secret: string): string {
  return createHmac('sha256', key).update(`${sort} ${id} ${secret}`).digest('base64url');
}
