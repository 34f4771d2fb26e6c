import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { SigningAlgorithm, SigningKey } from './signing-key.ts';

/** The keys of this server: all of them verify tokens, one signs. */
export interface SigningKeys {
  readonly keys: readonly SigningKey[];
  /** As they are published. */
  readonly publicKeys: JSONWebKeySet;
  /** Finds the key that a token names. */
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly algorithms: readonly SigningAlgorithm[];
  readonly signingAt: (now: Date) => SigningKey;
}

export interface SigningChoice {
  /** Id of the key that signs (configuration `auth.token.kid`). */
  readonly kid: string;
  /** How long others may keep the published keys (`auth.token.jwkscachettl`): a newer key signs only after this time. */
  readonly cacheTtlMs: number;
}

/** @returns undefined when none of the keys may sign */
export function signingKeys(keys: readonly SigningKey[], { kid, cacheTtlMs }: SigningChoice): SigningKeys | undefined {
  const named = keys.find((key) => key.kid === kid);
  const dated = keys
    .filter((key): key is SigningKey & { readonly addedAt: Date } => key.addedAt !== null)
    .toSorted((a, b) => a.addedAt.getTime() - b.addedAt.getTime() || (a.kid < b.kid ? -1 : 1));
  const oldest = named ?? dated[0];
  if (!oldest) return undefined;
  const publicKeys = { keys: keys.map(({ publicKey }) => publicKey) };
  return {
    keys,
    publicKeys,
    find: createLocalJWKSet(publicKeys),
    algorithms: [...new Set(keys.map(({ algorithm }) => algorithm))],
    signingAt: (now) =>
      named ?? dated.findLast(({ addedAt }) => addedAt.getTime() + cacheTtlMs <= now.getTime()) ?? oldest,
  };
}
