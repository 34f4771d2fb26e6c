import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { cose, isoCBOR } from '@simplewebauthn/server/helpers';

/** Deviations of an authenticator or a browser from the standard, or from the default. */
export interface Deviation {
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly type?: string;
  readonly challenge?: string;
  readonly relyingPartyId?: string;
  /** The count that is sent; default one more than the last. */
  readonly signCount?: number;
  readonly isUserVerified?: boolean;
  readonly isUserPresent?: boolean;
  readonly isBackupEligible?: boolean;
  readonly isBackedUp?: boolean;
  readonly userHandle?: string | undefined;
  readonly attestation?: 'none' | 'packed' | 'packed with certificates' | 'tpm';
  /** The key that signs. */
  readonly privateKey?: KeyObject;
}

interface Options {
  readonly publicKey: any; // eslint-disable-line typescript/no-explicit-any -- options as they were received
}

type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

const flags = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10, attested: 0x40 };

const hash = (data: string | Buffer) => createHash('sha256').update(data).digest();
const base64url = (data: Uint8Array | string) => Buffer.from(data).toString('base64url');

/** An authenticator with one passkey, and the browser before it: answers options as `PublicKeyCredential.toJSON` would. */
export class SoftwareAuthenticator {
  readonly credentialId = base64url(randomBytes(32));
  readonly privateKey: KeyObject;
  /** Set by the registration, or by hand for a passkey of somebody else. */
  userHandle = '';
  signCount = 0;
  readonly #publicKey: KeyObject;
  readonly #algorithm: Algorithm;
  readonly #origin: string;

  constructor(origin: string, algorithm: Algorithm = 'ES256') {
    this.#origin = origin;
    this.#algorithm = algorithm;
    const { publicKey, privateKey } = keyPair(algorithm);
    this.#publicKey = publicKey;
    this.privateKey = privateKey;
  }

  /** The answer to the options of a registration. */
  create({ publicKey }: Options, deviation: Deviation = {}) {
    this.userHandle = publicKey.user.id as string;
    const clientData = this.#clientData('webauthn.create', publicKey.challenge, deviation);
    const id = Buffer.from(this.credentialId, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()]);
    const authData = Buffer.concat([this.#head(publicKey.rp.id, deviation, flags.attested), attested]);
    const attestationObject = isoCBOR.encode(
      new Map<string, unknown>([
        ['fmt', deviation.attestation?.split(' ', 1)[0] ?? 'none'],
        ['attStmt', this.#statement(authData, clientData, deviation)],
        ['authData', Uint8Array.from(authData)],
      ]) as Parameters<typeof isoCBOR.encode>[0],
    );
    return this.#credential({
      clientDataJSON: base64url(clientData),
      attestationObject: base64url(attestationObject),
      transports: ['internal', 'hybrid'],
    });
  }

  /** The answer to the options of a sign-in. */
  get({ publicKey }: Options, deviation: Deviation = {}) {
    const clientData = this.#clientData('webauthn.get', publicKey.challenge, deviation);
    const authData = this.#head(publicKey.rpId, deviation, 0);
    const { userHandle = this.userHandle } = deviation;
    return this.#credential({
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(authData),
      signature: base64url(this.#sign(Buffer.concat([authData, hash(clientData)]), deviation)),
      ...('userHandle' in deviation && deviation.userHandle === undefined ? {} : { userHandle }),
    });
  }

  #credential<Response>(response: Response) {
    const id = this.credentialId;
    return { id, rawId: id, type: 'public-key', clientExtensionResults: { credProps: { rk: true } }, response };
  }

  #clientData(type: string, challenge: string, deviation: Deviation): Buffer {
    const { origin = this.#origin, crossOrigin = false } = deviation;
    const data = { type: deviation.type ?? type, challenge: deviation.challenge ?? challenge, origin, crossOrigin };
    return Buffer.from(JSON.stringify(data));
  }

  /** Hash of the relying party, flags and count (WebAuthn, section 6.1). */
  #head(relyingPartyId: string, deviation: Deviation, more: number): Buffer {
    const { isUserPresent = true, isUserVerified = true, isBackupEligible = false, isBackedUp = false } = deviation;
    this.signCount = deviation.signCount ?? this.signCount + 1;
    const set =
      more |
      (isUserPresent ? flags.userPresent : 0) |
      (isUserVerified ? flags.userVerified : 0) |
      (isBackupEligible ? flags.backupEligible : 0) |
      (isBackedUp ? flags.backedUp : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.signCount);
    return Buffer.concat([hash(deviation.relyingPartyId ?? relyingPartyId), Buffer.from([set]), count]);
  }

  #statement(authData: Buffer, clientData: Buffer, deviation: Deviation): Map<string, unknown> {
    const { attestation = 'none' } = deviation;
    if (attestation === 'none') return new Map();
    const statement = new Map<string, unknown>([
      ['alg', this.#algorithmId],
      ['sig', Uint8Array.from(this.#sign(Buffer.concat([authData, hash(clientData)]), deviation))],
    ]);
    if (attestation === 'packed with certificates') statement.set('x5c', [Uint8Array.from([0x30, 0x00])]);
    return statement;
  }

  #sign(data: Buffer, { privateKey = this.privateKey }: Deviation): Buffer {
    return sign(this.#algorithm === 'EdDSA' ? null : 'sha256', data, privateKey);
  }

  get #algorithmId(): number {
    return { ES256: cose.COSEALG.ES256, EdDSA: cose.COSEALG.EdDSA, RS256: cose.COSEALG.RS256 }[this.#algorithm];
  }

  /** RFC 9053, section 7, and RFC 8230, section 4. */
  #coseKey(): Uint8Array {
    const { x = '', y = '', n = '', e = '' } = this.#publicKey.export({ format: 'jwk' });
    const bytes = (value: string) => Uint8Array.from(Buffer.from(value, 'base64url'));
    const { kty, alg, crv, x: keyX, y: keyY, n: keyN, e: keyE } = cose.COSEKEYS;
    const own: [number, number | Uint8Array][] =
      this.#algorithm === 'RS256'
        ? [
            [kty, cose.COSEKTY.RSA],
            [keyN, bytes(n)],
            [keyE, bytes(e)],
          ]
        : this.#algorithm === 'EdDSA'
          ? [
              [kty, cose.COSEKTY.OKP],
              [crv, cose.COSECRV.ED25519],
              [keyX, bytes(x)],
            ]
          : [
              [kty, cose.COSEKTY.EC2],
              [crv, cose.COSECRV.P256],
              [keyX, bytes(x)],
              [keyY, bytes(y)],
            ];
    return isoCBOR.encode(new Map<number, number | Uint8Array>([[alg, this.#algorithmId], ...own]));
  }
}

function keyPair(algorithm: Algorithm) {
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}
