import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import { encryptionKeys, type KeyPurpose } from './keys.ts';

interface Keys {
  /** Configured secrets, the newest first (`encryptionKeys`). */
  readonly secrets: string;
  readonly purpose: KeyPurpose;
  /** Id of the record that the secret belongs to: copied into another record, it does not open. */
  readonly subject: string;
}

/** Encrypts a secret for storage: JWE with AES-256-GCM and the id of the key. */
export async function sealSecret(secret: string, { secrets, purpose, subject }: Keys): Promise<string> {
  const [{ id, key }] = encryptionKeys(secrets, purpose);
  return new CompactEncrypt(Buffer.from(secret))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: id, sub: subject })
    .encrypt(key);
}

/** Whether the newest key encrypted a secret, as it says itself. */
export function isSealedWithNewest(sealed: string, { secrets, purpose }: Keys): boolean {
  return decodeProtectedHeader(sealed).kid === encryptionKeys(secrets, purpose)[0].id;
}

/**
 * @returns the secret, and whether the newest key encrypted it; if not, whoever uses it encrypts it again
 * @throws Error when no configured key opens it
 */
export async function openSecret(
  sealed: string,
  { secrets, purpose, subject }: Keys,
): Promise<{ readonly secret: string; readonly isCurrent: boolean }> {
  const keys = encryptionKeys(secrets, purpose);
  const { plaintext, protectedHeader } = await compactDecrypt(
    sealed,
    ({ kid }) => {
      const found = keys.find(({ id }) => id === kid);
      if (!found) throw new Error(`no configured key has the id ${kid}; add the earlier secret again, after a comma`);
      return found.key;
    },
    { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
  );
  if (protectedHeader['sub'] !== subject)
    throw new Error(`the stored secret belongs to another record than ${subject}`);
  return { secret: Buffer.from(plaintext).toString(), isCurrent: protectedHeader.kid === keys[0].id };
}
