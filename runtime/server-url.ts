import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** URL at which this machine reaches a listening server. */
export function serverUrl(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return reachableUrl(address, port);
}

/** URL for a host and port to listen on; without a host the server listens on every interface, also on loopback. */
export function reachableUrl(host: string | undefined, port: number): string {
  if (host === undefined || host === '::' || host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
