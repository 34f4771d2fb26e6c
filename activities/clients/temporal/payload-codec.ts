import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { encryptionKeys, type EncryptionKey } from '#entities/kit/base/secrets/keys.ts';

const encoding = 'binary/encrypted';
const nonceLength = 12;
const tagLength = 16;
const utf8 = new TextEncoder();
const text = new TextDecoder();

/**
 * Encrypts everything Temporal stores of a workflow: inputs, results, headers, failures (AES-256-GCM, NIST SP 800-38D).
 * Each payload names its key, so keys can be rotated: the first key encrypts, all of them decrypt.
 */
export class EncryptingCodec implements PayloadCodec {
  readonly #keys: readonly [EncryptionKey, ...EncryptionKey[]];

  /** @param secret `sessions.encryptionkey`: one secret, or several separated by commas, the newest first */
  constructor(secret: string) {
    this.#keys = encryptionKeys(secret, 'workflow-payload');
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.#encrypt(payload));
  }

  /** @throws Error when a payload was encrypted with a key that is not configured (naming its id), or is damaged */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => (isEncrypted(payload) ? this.#decrypt(payload) : payload));
  }

  #encrypt(payload: Payload): Payload {
    const { id, key } = this.#keys[0];
    const nonce = randomBytes(nonceLength);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const plain = proto.temporal.api.common.v1.Payload.encode(payload).finish();
    const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return {
      metadata: { [METADATA_ENCODING_KEY]: utf8.encode(encoding), 'encryption-key-id': utf8.encode(id) },
      data: sealed,
    };
  }

  #decrypt(payload: Payload): Payload {
    const id = text.decode(payload.metadata?.['encryption-key-id'] ?? new Uint8Array()) || '(none)';
    const known = this.#keys.find((candidate) => candidate.id === id);
    if (!known)
      throw new Error(
        `a workflow payload was encrypted with the key ${id}, which sessions.encryptionkey does not hold any more`,
      );
    const plain = opened(Buffer.from(payload.data ?? new Uint8Array()), known);
    return proto.temporal.api.common.v1.Payload.decode(plain);
  }
}

/** @throws Error when it is not what the key sealed */
function opened(sealed: Buffer, { id, key }: EncryptionKey): Buffer {
  try {
    const options = { authTagLength: tagLength };
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceLength), options);
    decipher.setAuthTag(sealed.subarray(-tagLength));
    return Buffer.concat([decipher.update(sealed.subarray(nonceLength, -tagLength)), decipher.final()]);
  } catch (cause) {
    throw new Error(`a workflow payload is damaged: it is not what the key ${id} encrypted`, { cause });
  }
}

function isEncrypted(payload: Payload): boolean {
  return text.decode(payload.metadata?.[METADATA_ENCODING_KEY] ?? new Uint8Array()) === encoding;
}
