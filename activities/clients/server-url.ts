import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Address at which this machine reaches a server that listens; loopback for one that does so on every interface. */
export function serverUrl(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  const host = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address;
  return `http://${family === 'IPv6' && host === address ? `[${host}]` : host}:${port}`;
}
