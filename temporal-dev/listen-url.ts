import { parseListenAddress } from '#config/form.ts';
import { LOOPBACK } from './ports.ts';

/** Where this machine reaches what listens on an address in the form of `server.listen`. */
export function listenUrl(address: string): string {
  const { host, port } = parseListenAddress(address) ?? {};
  return `http://${reachable(host)}:${port ?? ''}`;
}

/** An address with this port instead of port 0, of which nobody could be told before it is open. */
export function withPort(address: string, port: number): string {
  return address.replace(/:0+$/, `:${port}`);
}

/** Every interface is asked through loopback. */
function reachable(host: string | undefined): string {
  if (host === undefined || host === '::' || host === '0.0.0.0') return LOOPBACK;
  return host.includes(':') ? `[${host}]` : host;
}
