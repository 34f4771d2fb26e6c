import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { codeOf, readPemFile } from '../../auth/pem-file.ts';
import { KeyProblem } from '../../auth/signing-key.ts';

/** A certificate chain and its private key, in PEM, of which servers can be made. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly validFrom: Date;
  readonly expiresAt: Date;
}

/** `server.tls.certfile` and `server.tls.certkey`. */
export interface CertificateFiles {
  readonly certfile: string;
  readonly certkey: string;
}

/** Why certificate and key cannot be used, as a sentence that names the field. */
export class CertificateProblem extends Error {
  override readonly name = 'CertificateProblem';
}

/** Reads certificate and key, and checks that clients can be served with them. @throws CertificateProblem */
export async function readCertificate({ certfile, certkey }: CertificateFiles): Promise<Certificate> {
  const cert = await chainIn(certfile);
  const key = await keyIn(certkey);
  const [leaf] = certificatesIn(cert);
  if (!leaf) throw chainProblem('has no certificate in PEM (BEGIN CERTIFICATE)');
  if (!leaf.checkPrivateKey(key.object))
    throw keyProblem(`does not belong to the first certificate in server.tls.certfile (${nameOf(leaf)})`);
  try {
    createSecureContext({ cert, key: key.text });
  } catch (error) {
    throw chainProblem(`cannot be used with its key (${(error as Error).message})`, error);
  }
  return { cert, key: key.text, validFrom: leaf.validFromDate, expiresAt: leaf.validToDate };
}

/** Changes whenever one of the files does; a file that is missing is a change as well. */
export async function signatureOf({ certfile, certkey }: CertificateFiles): Promise<string> {
  const states = await Promise.all([certfile, certkey].map(stateOf));
  return [certfile, certkey, ...states].join('\n');
}

async function stateOf(path: string): Promise<string> {
  try {
    const { ino, size, mode, mtimeMs, ctimeMs } = await stat(path);
    return [ino, size, mode, mtimeMs, ctimeMs].join();
  } catch (error) {
    return codeOf(error);
  }
}

async function chainIn(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw chainProblem(`cannot be read (${codeOf(error)})`, error);
  }
}

/** @throws CertificateProblem for text that ends within a certificate, as a half-written file does */
function certificatesIn(text: string): X509Certificate[] {
  const begins = text.split('-----BEGIN CERTIFICATE-----').length;
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length !== begins - 1) throw chainProblem('ends within a certificate: it may be half written');
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw chainProblem(`has a certificate that cannot be read, number ${index + 1}`, error);
    }
  });
}

async function keyIn(path: string): Promise<{ readonly text: string; readonly object: KeyObject }> {
  const text = await readPemFile(path).catch((error: unknown) => {
    throw error instanceof KeyProblem ? keyProblem(error.message, error) : error;
  });
  if (/ENCRYPTED/.test(text)) throw keyProblem('is encrypted: store it without a passphrase');
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw keyProblem('has no private key in PEM (BEGIN PRIVATE KEY)');
  if (!/-----END [A-Z ]*PRIVATE KEY-----/.test(text)) throw keyProblem('ends within the key: it may be half written');
  try {
    return { text, object: createPrivateKey(text) };
  } catch (error) {
    throw keyProblem('has a private key that cannot be read', error);
  }
}

function nameOf({ subject, subjectAltName }: X509Certificate): string {
  return (subjectAltName ?? subject).replaceAll('\n', ', ');
}

function chainProblem(reason: string, cause?: unknown): CertificateProblem {
  return new CertificateProblem(`server.tls.certfile ${reason}`, { cause });
}

function keyProblem(reason: string, cause?: unknown): CertificateProblem {
  return new CertificateProblem(`server.tls.certkey ${reason}`, { cause });
}
