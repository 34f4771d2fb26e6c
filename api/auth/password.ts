import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { HashQueue, type HashPurpose } from './hash-queue.ts';
import { giveWayToRequests } from './hash-threads.ts';

const derive = promisify(argon2) as (algorithm: 'argon2id', parameters: Argon2Parameters) => Promise<Buffer>;

let isFirst = true;

async function deriveHash(parameters: Argon2Parameters): Promise<Buffer> {
  const hash = await derive('argon2id', parameters);
  // libuv has started its threads by now.
  if (isFirst) giveWayToRequests();
  isFirst = false;
  return hash;
}

/**
 * Parameters of new hashes: those recommended by OWASP, 19 MiB, two passes, one lane. Memory is in KiB (RFC 9106). Tests that are not
 * about hashing lower them (test/kit/identity/password-hashing.ts).
 */
export const hashParameters: Readonly<Record<'memory' | 'passes' | 'parallelism' | 'tagLength', number>> = {
  memory: 19_456,
  passes: 2,
  parallelism: 1,
  tagLength: 32,
};

/** Prefix of a hash with the current parameters. */
const prefix = (): string =>
  `$argon2id$v=19$m=${hashParameters.memory},t=${hashParameters.passes},p=${hashParameters.parallelism}$`;

/** Hash that is used without an account, so that an unknown address takes as long as a wrong password. */
const absent = (): string => `${prefix()}${'A'.repeat(22)}$${'A'.repeat(43)}`;

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Maximum length of a password in characters; it limits the cost of hashing. */
export const maxPasswordLength = 1_024;

/**
 * All hashing of this process. One hash more than there are cores is computed while the result of another waits for the event loop. libuv
 * has four threads for hashing, files and name look-ups together.
 */
const queue = new HashQueue({
  concurrency: Math.min(availableParallelism() + 1, 3),
  waiting: { 'sign-in': 256, 'sign-up': 32 },
});

/**
 * @returns the hash in PHC form. The password is used as given, never trimmed.
 * @throws AppError overloaded
 */
export async function hashPassword(password: string, purpose: HashPurpose = 'sign-in'): Promise<string> {
  const nonce = randomBytes(16);
  const message = Buffer.from(password.normalize('NFC'));
  const hash = await queue.run(purpose, () => deriveHash({ ...hashParameters, message, nonce }));
  return `${prefix()}${unpadded(nonce)}$${unpadded(hash)}`;
}

/** Whether the password matches the hash. Without a hash, does the same work and returns false. @throws AppError overloaded */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const parts = phc.exec(stored ?? absent());
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
  const parameters = {
    message: Buffer.from(password.normalize('NFC')),
    nonce: Buffer.from(nonce, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  };
  const derived = await queue.run('sign-in', () => deriveHash(parameters));
  return timingSafeEqual(derived, expected) && stored !== null;
}

/** Whether the hash was created with other than the current parameters. */
export function isOutdated(stored: string): boolean {
  return !stored.startsWith(prefix());
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
