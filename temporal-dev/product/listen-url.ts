import { reachableUrl } from '#runtime/server-url.ts';
import { parseListenAddress } from '#config/schema/format.ts';

/** The URL under which this machine reaches a server that listens on `address`, a valid value of `server.listen`. @throws Error for a Unix socket */
export function listenUrl(address: string): string {
  const parsed = parseListenAddress(address);
  if (!parsed) throw new Error(`server.listen is ${address}: npm start needs a port, such as 127.0.0.1:17608.`);
  return reachableUrl(parsed.host, parsed.port);
}

/** The address with this port instead of port 0, because the port must be known before the server listens. */
export function withPort(address: string, port: number): string {
  return address.replace(/:0+$/, `:${port}`);
}

/** URL of the metrics; empty where there are none. */
export function metricsUrl(listen: string): string {
  return listen === '' ? '' : `${listenUrl(listen)}/metrics`;
}
