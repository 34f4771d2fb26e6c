import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { shortName } from '#config/schema/format.ts';
import type { FoundKey, KeySource } from './key-source.ts';
import { codeOf, readPemFile } from './pem-file.ts';
import { KeyProblem, signingKeyFrom } from './signing-key.ts';

const extension = '.pem';

interface FileState {
  readonly kid: string;
  readonly path: string;
  readonly addedAt: Date;
  /** Changes whenever the file does. */
  readonly signature: string;
}

/**
 * The PEM files of `keywatcher.keydir`. A file is read again when it has changed and then stayed the same until the next look,
 * because it may be half written at first.
 */
export class KeyFolder implements KeySource {
  readonly name = 'keywatcher.keydir';
  readonly isWatched = true;
  readonly #folder: string;
  /** By key id: what was seen at the last look. Undefined before the first one. */
  #seen: ReadonlyMap<string, string> | undefined;
  /** By key id: what was read, and from what. */
  #read: ReadonlyMap<string, { readonly signature: string; readonly found: FoundKey }> = new Map();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(): Promise<readonly FoundKey[]> {
    const files = await this.#files();
    const [seen, read] = [this.#seen, this.#read];
    const results = await Promise.all(
      files.map(async (file) => {
        const last = read.get(file.kid);
        const isSettled = !seen || seen.get(file.kid) === file.signature;
        if (last?.signature === file.signature || !isSettled) return last && ([file.kid, last] as const);
        return [file.kid, { signature: file.signature, found: await foundKey(file) }] as const;
      }),
    );
    this.#seen = new Map(files.map(({ kid, signature }) => [kid, signature]));
    this.#read = new Map(results.filter((result) => result !== undefined));
    return [...this.#read.values()].map(({ found }) => found);
  }

  async #files(): Promise<FileState[]> {
    try {
      // A program that writes to the folder adds keys.
      if (((await stat(this.#folder)).mode & 0o002) !== 0)
        throw new KeyProblem('can be written by all users; run chmod o-w on the folder');
      const names = (await readdir(this.#folder)).filter((name) => name.endsWith(extension)).toSorted();
      const states = await Promise.all(names.map((name) => stateOf(join(this.#folder, name))));
      return states.filter((state) => state !== undefined);
    } catch (error) {
      if (error instanceof KeyProblem) throw error;
      throw new KeyProblem(`cannot be read (${codeOf(error)})`, { cause: error });
    }
  }
}

/** @returns undefined for a file that was removed meanwhile */
async function stateOf(path: string): Promise<FileState | undefined> {
  const kid = basename(path, extension);
  try {
    const { ino, size, mode, mtime, ctimeMs } = await stat(path);
    return { kid, path, addedAt: mtime, signature: [ino, size, mode, mtime.getTime(), ctimeMs].join() };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function foundKey({ kid, path, addedAt }: FileState): Promise<FoundKey> {
  const place = `keywatcher.keydir: ${basename(path)}`;
  try {
    const reason = shortName.check(kid);
    if (reason !== undefined) throw new KeyProblem(`has a name that ${reason}; a key id is like ${shortName.example}`);
    return { kid, place, key: await signingKeyFrom(kid, await readPemFile(path), addedAt) };
  } catch (error) {
    if (error instanceof KeyProblem) return { kid, place, problem: error.message };
    throw error;
  }
}
