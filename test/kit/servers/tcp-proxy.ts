import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A server that can be away: connections through it can be cut and refused, and come back. */
export interface TcpProxy {
  /** `host:port` to connect to instead of the target. */
  readonly address: string;
  /** `host:port` to which new connections go. */
  target: string;
  /** Cuts every connection and takes no new one. */
  cut(): void;
  /** The same as soon as so many more bytes went to the target; resolves then. */
  cutAfter(bytes: number): Promise<void>;
  /** From now on bytes to the target stand still, as they do when a machine vanishes. */
  stall(): void;
  /** Connections work again; stalled bytes flow. */
  restore(): void;
  close(): Promise<void>;
}

/** @param target `host:port` */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const upstream = new Set<Socket>();
  let isCut = false;
  let isStalled = false;
  let forwarded = 0;
  let limit: { readonly at: number; readonly reached: () => void } | undefined;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const [host, port] = proxy.target.split(':');
    const forward = connect(Number(port), host);
    for (const each of [socket, forward]) {
      sockets.add(each);
      each.on('error', () => {});
      each.on('close', () => {
        sockets.delete(each);
        upstream.delete(socket);
        socket.destroy();
        forward.destroy();
      });
    }
    upstream.add(socket);
    socket.on('data', (chunk) => {
      forwarded += chunk.length;
      forward.write(chunk);
      if (limit === undefined || forwarded < limit.at) return;
      const { reached } = limit;
      limit = undefined;
      cut();
      reached();
    });
    forward.pipe(socket);
    if (isStalled) socket.pause();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  const proxy: TcpProxy = {
    address: `127.0.0.1:${own}`,
    target,
    cut,
    cutAfter: (bytes) =>
      new Promise((resolve) => {
        limit = { at: forwarded + bytes, reached: resolve };
      }),
    stall: () => {
      isStalled = true;
      for (const socket of upstream) socket.pause();
    },
    restore: () => {
      isCut = false;
      isStalled = false;
      for (const socket of upstream) socket.resume();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
