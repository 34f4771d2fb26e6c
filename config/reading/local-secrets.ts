import { randomBytes } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../schema/is-plain-object.ts';
import { ConfigurationError } from '../schema/config-problem.ts';
import { errorCode, readTextFile } from './read-file.ts';

/** The secrets that are generated while `server.dev` is on, by path. */
export const generatedSecrets = ['sessions.signingkey', 'sessions.encryptionkey', 'totp.secret'] as const;

type Secrets = Readonly<Record<(typeof generatedSecrets)[number], string>>;

const startOver = 'remove it; new secrets are generated, and sessions made with the old ones end';

function refuse(file: string, reason: string, remedy: string): never {
  throw new ConfigurationError([{ where: file, path: '', reason, remedy }]);
}

function isSecrets(value: unknown): value is Secrets {
  return (
    isPlainObject(value) &&
    generatedSecrets.every((path) => typeof value[path] === 'string' && value[path].length >= 32)
  );
}

function parse(file: string, text: string): Secrets {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    refuse(file, 'is not JSON', startOver);
  }
  return isSecrets(content) ? content : refuse(file, 'does not contain all secrets', startOver);
}

async function read(file: string): Promise<Secrets | undefined> {
  const text = await readTextFile(file);
  if (typeof text === 'string') return parse(file, text);
  return text.isMissing ? undefined : refuse(file, text.reason, text.remedy);
}

/**
 * Reads the secrets of a development installation from `secrets.json` in its state folder, or generates them. API and worker
 * start at the same time: each writes a temporary file and links it to the final name. Only one link succeeds, and both
 * processes read that file.
 */
export async function readOrMakeLocalSecrets(stateFolder: string): Promise<Secrets> {
  const file = join(stateFolder, 'secrets.json');
  const existing = await read(file);
  if (existing !== undefined) return existing;
  const made = Object.fromEntries(generatedSecrets.map((path) => [path, randomBytes(48).toString('base64url')]));
  const aside = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(stateFolder, { recursive: true });
    await writeAside(aside, `${JSON.stringify(made, null, 2)}\n`);
    await link(aside, file).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  } catch (error) {
    const remedy = `free disk space or grant write access, or set ${generatedSecrets.join(', ')}`;
    refuse(file, `cannot be written (${errorCode(error)})`, remedy);
  } finally {
    await unlink(aside).catch(() => undefined);
  }
  return (await read(file)) ?? refuse(file, 'was deleted while it was created', 'start again');
}

async function writeAside(file: string, text: string): Promise<void> {
  await using handle = await open(file, 'wx', 0o600);
  await handle.writeFile(text);
  await handle.sync();
}
