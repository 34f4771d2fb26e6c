import { open } from 'node:fs/promises';
import { KeyProblem } from './signing-key.ts';

/** Maximum size of a PEM file in bytes; an RSA key of 16,384 bits has 13,000. */
const maxBytes = 65_536;

/** Permissions that no user other than owner and group may have. */
const forOthers = 0o007;

/** Reads a file that should hold a private key. @throws KeyProblem */
export async function readPemFile(path: string): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const { mode, size } = await file.stat();
      if ((mode & forOthers) !== 0)
        throw new KeyProblem(
          `is open to all users (mode ${(mode & 0o777).toString(8).padStart(4, '0')}); run chmod o= on the file`,
        );
      if (size > maxBytes) throw new KeyProblem(`has ${size} bytes, which no key has`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof KeyProblem) throw error;
    throw new KeyProblem(`cannot be read (${codeOf(error)})`, { cause: error });
  }
}

/** Code of a system error. Its message would name the path, and a path in the configuration may be a key that was pasted wrongly. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
