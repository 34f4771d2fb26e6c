import { randomBytes } from 'node:crypto';
import { StorageError, type StorageProvider } from '../provider.ts';

type Probed = Pick<StorageProvider, 'put' | 'read' | 'delete'>;

/** One key for each opened bucket: what a process leaves that is killed is one object, however often it has probed. */
const keys = new WeakMap<Probed, string>();

/** Probes that are under way; two of them at the same key would disturb each other. */
const underWay = new WeakMap<Probed, Promise<void>>();

/**
 * Writes an object, reads it back and deletes it. Its key begins with no installation, so that no listing of stored objects has it.
 * @throws StorageError
 */
export function probeProvider(provider: Probed): Promise<void> {
  const known = underWay.get(provider);
  if (known) return known;
  const key = keys.get(provider) ?? `probe/${randomBytes(16).toString('hex')}`;
  keys.set(provider, key);
  const result = probeAt(key, provider).finally(() => underWay.delete(provider));
  underWay.set(provider, result);
  return result;
}

async function probeAt(key: string, provider: Probed): Promise<void> {
  const written = randomBytes(64);
  await provider.put(key, [written], 'application/octet-stream');
  try {
    const { stream } = await provider.read(key);
    const read = Buffer.concat(await stream.toArray());
    if (!read.equals(written)) throw new StorageError('broken', 'The provider returned other bytes than were stored.');
  } finally {
    await provider.delete([key]);
  }
}
