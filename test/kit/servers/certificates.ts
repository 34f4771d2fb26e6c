import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A value in DER (X.690) with its tag. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const time = (at: Date) => der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));

/** Of ecdsa-with-SHA256, of a common name, and of alternative names. */
const oids = {
  ecdsaWithSha256: der(0x06, Buffer.from('2a8648ce3d040302', 'hex')),
  commonName: der(0x06, Buffer.from('550403', 'hex')),
  subjectAltName: der(0x06, Buffer.from('551d11', 'hex')),
};

export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  /** As `getPeerCertificate().fingerprint256` has it. */
  readonly fingerprint: string;
}

/** A certificate for localhost and 127.0.0.1 that signs itself. @param name common name */
export function testCertificate(name = 'localhost', expiresAt = new Date(Date.now() + 86_400_000)): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = sequence(der(0x31, sequence(oids.commonName, der(0x0c, Buffer.from(name)))));
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const algorithm = sequence(oids.ecdsaWithSha256);
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer,
    sequence(time(new Date(expiresAt.getTime() - 2 * 86_400_000)), time(expiresAt)),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oids.subjectAltName, der(0x04, names)))),
  );
  const signature = sign('sha256', content, privateKey);
  const bytes = sequence(content, algorithm, der(0x03, Buffer.from([0]), signature));
  const base64 = (bytes.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  const digest = createHash('sha256').update(bytes).digest('hex').toUpperCase();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    fingerprint: (digest.match(/../g) ?? []).join(':'),
  };
}
