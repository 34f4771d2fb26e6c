import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** A value in DER (X.690) with its tag. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const time = (at: Date) => der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
const commonName = (name: string) => sequence(der(0x31, sequence(oids.commonName, der(0x0c, Buffer.from(name)))));

/** Of ecdsa-with-SHA256, of a common name, and of extensions. */
const oids = {
  ecdsaWithSha256: der(0x06, Buffer.from('2a8648ce3d040302', 'hex')),
  commonName: der(0x06, Buffer.from('550403', 'hex')),
  subjectAltName: der(0x06, Buffer.from('551d11', 'hex')),
  basicConstraints: der(0x06, Buffer.from('551d13', 'hex')),
};

export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  /** As `getPeerCertificate().fingerprint256` has it. */
  readonly fingerprint: string;
}

interface CertificateContent {
  readonly subject: string;
  readonly issuer: string;
  readonly validFrom: Date;
  readonly expiresAt: Date;
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer;
  readonly extension: Buffer;
}

/** A certificate of version 3 with one extension, which the issuer signs. */
function signedCertificate(content: CertificateContent, signingKey: KeyObject): Omit<TestCertificate, 'key'> {
  const algorithm = sequence(oids.ecdsaWithSha256);
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    commonName(content.issuer),
    sequence(time(content.validFrom), time(content.expiresAt)),
    commonName(content.subject),
    content.publicKey,
    der(0xa3, sequence(content.extension)),
  );
  const bytes = sequence(signed, algorithm, der(0x03, Buffer.from([0]), sign('sha256', signed, signingKey)));
  const base64 = (bytes.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  const digest = createHash('sha256').update(bytes).digest('hex').toUpperCase();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    fingerprint: (digest.match(/../g) ?? []).join(':'),
  };
}

const alternativeNames = (...names: readonly Buffer[]) => sequence(oids.subjectAltName, der(0x04, sequence(...names)));
const dnsName = (name: string) => der(0x82, Buffer.from(name));

/** A certificate for localhost and 127.0.0.1 that signs itself. @param name common name */
export function testCertificate(name = 'localhost', expiresAt = new Date(Date.now() + 86_400_000)): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const content = {
    subject: name,
    issuer: name,
    validFrom: new Date(expiresAt.getTime() - 2 * 86_400_000),
    expiresAt,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    extension: alternativeNames(dnsName('localhost'), der(0x87, Buffer.from([127, 0, 0, 1]))),
  };
  return {
    ...signedCertificate(content, privateKey),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Of all authorities of this process: several with one subject would be taken for each other. */
let trusted: TestCertificate | undefined;

/** The certificate with which authorities of tests serve HTTPS on this machine. This process trusts it. */
export function trustedCertificate(): TestCertificate {
  if (trusted) return trusted;
  trusted = testCertificate();
  setDefaultCACertificates([...getCACertificates('default'), trusted.cert]);
  return trusted;
}

/** Issues certificates that are valid from now on. */
export class TestIssuer {
  /** Its own certificate, in PEM. */
  readonly root: string;
  readonly #key: KeyObject;
  readonly #name = `issuer ${randomBytes(4).toString('hex')}`;
  readonly #validity: Pick<CertificateContent, 'validFrom' | 'expiresAt'>;

  /** @param lifetimeMs of all its certificates */
  constructor(lifetimeMs: number) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = privateKey;
    this.#validity = { validFrom: new Date(), expiresAt: new Date(Date.now() + lifetimeMs) };
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const isAuthority = sequence(oids.basicConstraints, der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
    this.root = this.#sign(this.#name, spki, isAuthority);
  }

  /** @param request PKCS #10 in DER, of which the public key is taken */
  issue(name: string, request: Buffer): string {
    const [content = Buffer.alloc(0)] = partsOf(request);
    const [, , publicKey = Buffer.alloc(0)] = partsOf(content);
    return this.#sign(name, publicKey, alternativeNames(dnsName(name)));
  }

  #sign(subject: string, publicKey: Buffer, extension: Buffer): string {
    const content = { subject, issuer: this.#name, publicKey, extension, ...this.#validity };
    return signedCertificate(content, this.#key).cert;
  }
}

/** The values in a sequence in DER, each with its tag. */
function partsOf(sequenceBytes: Buffer): Buffer[] {
  const { start, end } = boundsOf(sequenceBytes);
  const parts: Buffer[] = [];
  for (let at = start; at < end; at += parts.at(-1)?.length ?? 0) {
    const rest = sequenceBytes.subarray(at);
    parts.push(rest.subarray(0, boundsOf(rest).end));
  }
  return parts;
}

/** Where the content of a value in DER begins and ends. */
function boundsOf(value: Buffer): { readonly start: number; readonly end: number } {
  const first = value.readUInt8(1);
  if (first < 128) return { start: 2, end: 2 + first };
  const start = 2 + (first & 127);
  return { start, end: start + value.readUIntBE(2, first & 127) };
}
