import { reachableUrl } from '#runtime/server-url.ts';
import { parseListenAddress } from '#config/schema/format.ts';

/** The URL under which this machine reaches a server that listens on `address`, a valid value of `server.listen`. */
export function listenUrl(address: string): string {
  const { host, port } = parseListenAddress(address) as { readonly host?: string; readonly port: number };
  return reachableUrl(host, port);
}

/** The address with this port instead of port 0, because the port must be known before the server listens. */
export function withPort(address: string, port: number): string {
  return address.replace(/:0+$/, `:${port}`);
}
