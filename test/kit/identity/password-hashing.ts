import { hashParameters, hashPassword } from '#api/auth/password.ts';
import { testSecrets } from '../../setup/secrets.ts';

/** `minimal`: the least that argon2id allows, for tests that are not about hashing. `production`: as the product hashes. */
type PasswordHashing = 'minimal' | 'production';

const production = { ...hashParameters };
const parametersOf: Readonly<Record<PasswordHashing, Partial<typeof hashParameters>>> = {
  minimal: { memory: 8 * production.parallelism, passes: 1 },
  production,
};

/**
 * How this process hashes passwords from now on. A hash of the product takes 40 ms of a processor, and its threads give way to all
 * others. Hashes name their parameters, so other processes verify them all the same, and replace them at the next sign-in.
 */
export function hashPasswordsAs(hashing: PasswordHashing): void {
  Object.assign(hashParameters, parametersOf[hashing]);
}

const known = new Map<number, Promise<string>>();

/** One hash of the password of all test people. */
export function hashOfTestPassword(): Promise<string> {
  const hash = known.get(hashParameters.memory) ?? hashPassword(testSecrets.password);
  known.set(hashParameters.memory, hash);
  return hash;
}
