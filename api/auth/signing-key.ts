import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';

/** Algorithm with which a key signs, by its type. */
export type SigningAlgorithm = 'EdDSA' | 'RS256' | 'ES256' | 'ES384';

/** Accepted algorithms: only asymmetric ones, so that a public key cannot be used as a shared secret. */
export const acceptedAlgorithms: readonly string[] = [
  'EdDSA',
  'RS256',
  'ES256',
  'ES384',
  // Other servers may sign with it (`auth.token.jwksendpoint`). Node.js cannot use RSASSA-PSS keys in PEM form.
  'PS256',
] satisfies readonly (SigningAlgorithm | 'PS256')[];

/** A key that signs tokens, and verifies those that it signed. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly privateKey: KeyObject;
  /** As it is published. */
  readonly publicKey: JWK;
  /** Of the public key (RFC 7638). */
  readonly thumbprint: string;
  /** Since when the key is published; null for keys that sign only when `auth.token.kid` names them. */
  readonly addedAt: Date | null;
}

/** Why a key cannot be used, for operators. The message contains no part of the key. */
export class KeyProblem extends Error {
  /** Whether it may pass by itself. */
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary = false, cause }: { isTemporary?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isTemporary = isTemporary;
  }
}

/** @throws KeyProblem */
export async function signingKeyFrom(kid: string, pem: string, addedAt: Date | null = null): Promise<SigningKey> {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw new KeyProblem('is not a private key in PEM form (PKCS#8, PKCS#1 or SEC1, not encrypted)', { cause });
  }
  const algorithm = algorithmOf(privateKey);
  const jwk = await exportJWK(createPublicKey(privateKey));
  const thumbprint = await calculateJwkThumbprint(jwk);
  return { kid, algorithm, privateKey, publicKey: { ...jwk, kid, alg: algorithm, use: 'sig' }, thumbprint, addedAt };
}

/** Every key signs with one algorithm only (RFC 8725, section 3.1). */
function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): SigningAlgorithm {
  if (type === 'ed25519') return 'EdDSA';
  if (type === 'rsa') {
    if ((details.modulusLength ?? 0) >= 2_048) return 'RS256';
    throw new KeyProblem('is an RSA key of less than 2048 bits; create a longer one');
  }
  if (type === 'ec') {
    if (details.namedCurve === 'prime256v1') return 'ES256';
    if (details.namedCurve === 'secp384r1') return 'ES384';
    throw new KeyProblem(`is a key on the curve ${details.namedCurve}; use P-256 or P-384`);
  }
  throw new KeyProblem(`is a ${type} key; use Ed25519, RSA, or EC on P-256 or P-384`);
}
