import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Certificate } from './certificate-files.ts';

/** The farthest that the clock of an authority may be ahead, in milliseconds. */
const clockSkewMs = 3_600_000;

/**
 * Checks that a certificate that an authority has issued is what was ordered: an authority, or somebody between, may err or lie.
 * @throws Error with the reason, as the end of a sentence about the certificate
 */
export function checkedCertificate(
  { cert, key }: Pick<Certificate, 'cert' | 'key'>,
  { name, now }: { readonly name: string; readonly now: Date },
): Certificate {
  const leaf = new X509Certificate(cert);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('is for another key than the one that was sent');
  const certificate = readIssued({ cert, key });
  if (leaf.checkHost(name, { subject: 'never', wildcards: false }) === undefined)
    throw new Error(`is for ${leaf.subjectAltName ?? 'no name'}, not for ${name}`);
  if (certificate.expiresAt <= now) throw new Error(`has expired (${certificate.expiresAt.toISOString()})`);
  if (certificate.validFrom.getTime() > now.getTime() + clockSkewMs)
    throw new Error(`is valid only from ${certificate.validFrom.toISOString()} on`);
  return certificate;
}

/** A certificate with its key, as it was kept. @throws Error when clients cannot be served with it */
export function readIssued({ cert, key }: Pick<Certificate, 'cert' | 'key'>): Certificate {
  createSecureContext({ cert, key });
  const leaf = new X509Certificate(cert);
  return { cert, key, validFrom: leaf.validFromDate, expiresAt: leaf.validToDate };
}

/** @throws Error whose message continues a sentence about the authority */
export function checkIssued(
  issued: { readonly cert: string; readonly key: string },
  ordered: { readonly name: string; readonly now: Date },
): Certificate {
  try {
    return checkedCertificate(issued, ordered);
  } catch (error) {
    throw new Error(`issued a certificate that ${(error as Error).message}: it is not used`, { cause: error });
  }
}
