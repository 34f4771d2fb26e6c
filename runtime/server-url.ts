import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Address at which this machine reaches a server that listens. */
export function serverUrl(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return reachableUrl(address, port);
}

/** The same for a host and port to listen on; every interface (no host) is asked through loopback. */
export function reachableUrl(host: string | undefined, port: number): string {
  if (host === undefined || host === '::' || host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
