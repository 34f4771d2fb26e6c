import { hash } from 'node:crypto';

/**
 * Whether an address has a profile at the avatar service, which receives only the hash of the address.
 * @param email in lower case
 * @throws the error of a request that fails
 */
export async function hasAvatarProfile(baseUrl: string, email: string, signal: AbortSignal): Promise<boolean> {
  // `d=404`: no picture instead of one for everybody.
  const url = `${baseUrl}/${hash('sha256', email)}?d=404`;
  const { status } = await fetch(url, { method: 'HEAD', redirect: 'error', signal });
  return status === 200;
}
