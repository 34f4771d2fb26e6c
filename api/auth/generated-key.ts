import { generateKeyPairSync } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FoundKey, KeySource } from './key-source.ts';
import { signingKeyFrom } from './signing-key.ts';

/** The Ed25519 key that this installation generates where no other source is configured (`auth.token.generatekeys`). */
export class GeneratedKey implements KeySource {
  readonly name = 'auth.token.generatekeys';
  readonly isStrict = true;
  readonly #kid: () => string;
  readonly #isNeeded: () => boolean;
  readonly #path: string;
  #pem: string | undefined;

  /**
   * @param isNeeded whether there is no other key
   * @param stateFolder where the key is kept
   */
  constructor(kid: () => string, isNeeded: () => boolean, stateFolder: string) {
    this.#kid = kid;
    this.#isNeeded = isNeeded;
    this.#path = join(stateFolder, 'signing-key.pem');
  }

  async read(): Promise<readonly FoundKey[]> {
    if (!this.#isNeeded()) return [];
    this.#pem ??= await generatedPem(this.#path);
    const kid = this.#kid();
    return [{ kid, place: this.name, key: await signingKeyFrom(kid, this.#pem) }];
  }
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
