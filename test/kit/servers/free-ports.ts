import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

const host = '127.0.0.1';

/** Ports that nobody uses at the moment. */
export async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, host);
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = holders.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(holders.map((server) => once(server.close(), 'close')));
  return ports;
}
