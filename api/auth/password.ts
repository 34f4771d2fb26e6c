import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto';
import { promisify } from 'node:util';
import { AppError } from '#entities/kit/base/errors.ts';

const deriveHash = promisify(argon2) as (algorithm: 'argon2id', parameters: Argon2Parameters) => Promise<Buffer>;

/** Parameters recommended by OWASP: 19 MiB, two passes, one lane. Memory is in KiB (RFC 9106). */
const current = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const;

/** Hash that is used without an account, so that an unknown address takes as long as a wrong password. */
const absent = `$argon2id$v=19$m=${current.memory},t=${current.passes},p=${current.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Maximum length of a password in characters; it limits the cost of hashing. */
export const maxPasswordLength = 1_024;

/** @returns the hash in PHC form. The password is used as given, never trimmed. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const hash = await deriveHash('argon2id', { ...current, message: Buffer.from(password.normalize('NFC')), nonce });
  return `$argon2id$v=19$m=${current.memory},t=${current.passes},p=${current.parallelism}$${unpadded(nonce)}$${unpadded(hash)}`;
}

/** Whether the password matches the hash. Without a hash, does the same work and returns false. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const parts = phc.exec(stored ?? absent);
  if (!parts) throw new Error('a stored password hash is not in PHC form');
  const [, memory, passes, parallelism, nonce, hash] = parts as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const expected = Buffer.from(hash, 'base64');
  const derived = await deriveHash('argon2id', {
    message: Buffer.from(password.normalize('NFC')),
    nonce: Buffer.from(nonce, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return timingSafeEqual(derived, expected) && stored !== null;
}

/** Whether the hash was created with other than the current parameters. */
export function isOutdated(stored: string): boolean {
  return !stored.startsWith(`$argon2id$v=19$m=${current.memory},t=${current.passes},p=${current.parallelism}$`);
}

/**
 * Accepts passwords of at least 12 characters, and shorter ones that are hard to guess (zxcvbn score 3 of 4).
 * @param personal words that an attacker would try first: the address and names of the user
 * @throws AppError weak_password
 */
export async function checkStrength(password: string, personal: readonly string[]): Promise<void> {
  const isPersonal = personal.some((word) => word.toLowerCase() === password.toLowerCase());
  if (password.length >= 12 && new Set(password).size >= 4 && !isPersonal) return;
  const { check } = await strengthEstimator();
  const result = check(password, [...personal]);
  if (result.score >= 3 && !isPersonal) return;
  const advice = result.feedback.warning ?? 'Use at least 12 characters, for example several unrelated words.';
  throw new AppError('weak_password', `This password is too easy to guess. ${advice}`, {
    details: { fields: [{ path: '/password', message: advice }] },
  });
}

let estimator:
  | Promise<{
      check: (password: string, personal: string[]) => { score: number; feedback: { warning?: string | null } };
    }>
  | undefined;

/** Loads the dictionaries, which take megabytes, for the first short password. */
function strengthEstimator(): NonNullable<typeof estimator> {
  estimator ??= (async () => {
    const [{ ZxcvbnFactory }, common, english] = await Promise.all([
      import('@zxcvbn-ts/core'),
      import('@zxcvbn-ts/language-common'),
      import('@zxcvbn-ts/language-en'),
    ]);
    const factory = new ZxcvbnFactory({
      dictionary: { ...common.dictionary, ...english.dictionary },
      graphs: common.adjacencyGraphs,
      translations: english.translations,
    });
    return { check: (password: string, personal: string[]) => factory.check(password, personal) };
  })();
  return estimator;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
