import type { FoundKey, KeySource } from './key-source.ts';
import { readPemFile } from './pem-file.ts';
import { KeyProblem, signingKeyFrom } from './signing-key.ts';

/** The keys of `auth.token.keys`: PEM text, or the path of a PEM file. Files are read when the configuration changes. */
export class ConfiguredKeys implements KeySource {
  readonly name = 'auth.token.keys';
  readonly isStrict = true;
  readonly #keys: () => Readonly<Record<string, string>>;
  #read: { readonly of: string; readonly found: readonly FoundKey[] } | undefined;

  constructor(keys: () => Readonly<Record<string, string>>) {
    this.#keys = keys;
  }

  async read(): Promise<readonly FoundKey[]> {
    const keys = Object.entries(this.#keys());
    const of = JSON.stringify(keys);
    if (this.#read?.of !== of) this.#read = { of, found: await Promise.all(keys.map(foundKey)) };
    return this.#read.found;
  }
}

async function foundKey([kid, value]: readonly [string, string]): Promise<FoundKey> {
  const place = `auth.token.keys: "${kid}"`;
  try {
    const pem = value.includes('-----BEGIN ') ? value : await readPemFile(value);
    return { kid, place, key: await signingKeyFrom(kid, pem) };
  } catch (error) {
    if (error instanceof KeyProblem) return { kid, place, problem: error.message };
    throw error;
  }
}
