import { reachableUrl } from '#runtime/server-url.ts';
import { parseListenAddress } from '#config/schema/format.ts';

/** Where this machine reaches what listens on an address in the form of `server.listen`, which has been checked. */
export function listenUrl(address: string): string {
  const { host, port } = parseListenAddress(address) as { readonly host?: string; readonly port: number };
  return reachableUrl(host, port);
}

/** An address with this port instead of port 0, of which nobody could be told before it is open. */
export function withPort(address: string, port: number): string {
  return address.replace(/:0+$/, `:${port}`);
}
