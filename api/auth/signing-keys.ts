import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, readFile, rename, link, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exportJWK, type JSONWebKeySet } from 'jose';
import { StartError } from '#runtime/start-error.ts';

/** Accepted algorithms: only asymmetric ones, so that a public key cannot be used as a shared secret. */
const algorithms = ['EdDSA', 'RS256'] as const;
type Algorithm = (typeof algorithms)[number];

interface SigningKey {
  readonly kid: string;
  readonly algorithm: Algorithm;
  readonly privateKey: KeyObject;
}

export interface SigningKeys {
  readonly signing: SigningKey;
  readonly publicKeys: JSONWebKeySet;
  readonly algorithms: readonly Algorithm[];
}

export interface SigningKeySources {
  /** Id of the key that signs (configuration `auth.token.kid`). */
  readonly kid: string;
  /** Key id → path of a PEM file, or the PEM text (`auth.token.keys`). */
  readonly keys: Readonly<Record<string, string>>;
  /** Whether to generate an Ed25519 key when none is configured (`auth.token.generatekeys`); stored in `stateFolder`. */
  readonly generateKeys: boolean;
  readonly stateFolder: string;
}

/**
 * Loads the configured signing keys, or the generated one.
 * @throws StartError with the key and what to do, when a key cannot be used or the signing key is missing
 */
export async function loadSigningKeys(sources: SigningKeySources): Promise<SigningKeys> {
  const configured = await Promise.all(
    Object.entries(sources.keys).map(async ([kid, path]) => keyFrom(kid, await readPem(kid, path))),
  );
  const keys =
    configured.length === 0 && sources.generateKeys
      ? [keyFrom(sources.kid, await generatedPem(join(sources.stateFolder, 'signing-key.pem')))]
      : configured;
  const signing = keys.find((key) => key.kid === sources.kid);
  if (!signing) {
    throw new StartError(
      `auth.token.kid is "${sources.kid}", but auth.token.keys holds ${keys.map((key) => key.kid).join(', ') || 'nothing'}: add that key or set auth.token.generatekeys.`,
    );
  }
  const publicKeys = await Promise.all(
    keys.map(async (key) => ({
      ...(await exportJWK(createPublicKey(key.privateKey))),
      kid: key.kid,
      alg: key.algorithm,
      use: 'sig',
    })),
  );
  return { signing, publicKeys: { keys: publicKeys }, algorithms };
}

async function readPem(kid: string, path: string): Promise<string> {
  if (path.includes('-----BEGIN ')) return path;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new StartError(`auth.token.keys: the key "${kid}" cannot be read from ${path}.`, cause);
  }
}

function keyFrom(kid: string, pem: string): SigningKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw new StartError(`auth.token.keys: "${kid}" is not a private key in PEM form (PKCS#8 or PKCS#1).`, cause);
  }
  if (privateKey.asymmetricKeyType === 'ed25519') return { kid, algorithm: 'EdDSA', privateKey };
  if (privateKey.asymmetricKeyType === 'rsa') {
    if ((privateKey.asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048) return { kid, algorithm: 'RS256', privateKey };
    throw new StartError(`auth.token.keys: "${kid}" is an RSA key of less than 2048 bits; create a longer one.`);
  }
  throw new StartError(`auth.token.keys: "${kid}" is a ${privateKey.asymmetricKeyType} key; use Ed25519 or RSA.`);
}

/** The generated key of this installation. Of processes that start at the same time, the first one to write the file wins. */
async function generatedPem(path: string): Promise<string> {
  const existing = await readFile(path, 'utf8').catch(() => undefined);
  if (existing !== undefined) return existing;
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, pem, { mode: 0o600 });
  try {
    await link(draft, path);
    return pem;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return await readFile(path, 'utf8');
    // The file system has no hard links. A rename is atomic, too; the last one of several concurrent starts wins for all.
    await rename(draft, path);
    return await readFile(path, 'utf8');
  } finally {
    await rm(draft, { force: true });
  }
}
