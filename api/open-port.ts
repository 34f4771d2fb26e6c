import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { parseListenAddress, parseSocketPath } from '#config/schema/format.ts';
import { StartError } from '#runtime/start-error.ts';

/** Opens the port or the Unix socket of `server.listen`. @returns its URL, or `unix:` and the path @throws StartError when it cannot be opened */
export async function openListener(app: FastifyInstance, address: string): Promise<string> {
  const path = parseSocketPath(address);
  if (path === undefined) return opened('server.listen', address, (host, port) => app.listen({ host, port }));
  try {
    await removeAbandoned(path);
    await app.listen({ path });
    return address;
  } catch (error) {
    throw new StartError(
      `server.listen is ${address}, ${reasonOf(error as NodeJS.ErrnoException, socketReasons)}`,
      error,
    );
  }
}

/** Removes the socket of a process that did not end properly: nobody answers there. */
async function removeAbandoned(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found?.isSocket() && !(await isAnswered(path))) await unlink(path);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? resolve(false) : reject(error),
    );
  });
}

/** All interfaces, for an address without a host: IPv6, which includes IPv4, or IPv4 alone. */
const allInterfaces = ['::', '0.0.0.0'] as const;

/** Opens the port of a field of the configuration. @throws StartError when it cannot be opened */
export async function opened<T>(
  field: string,
  address: string,
  open: (host: string, port: number) => Promise<T>,
): Promise<T> {
  const { host, port } = parseListenAddress(address) ?? {};
  // The configuration has already been validated.
  if (port === undefined) throw new StartError(`${field} is "${address}", which is not an address to listen on.`);
  try {
    if (host !== undefined) return await open(host, port);
    return await open(allInterfaces[0], port).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EAFNOSUPPORT' && error.code !== 'EADDRNOTAVAIL') throw error;
      return open(allInterfaces[1], port);
    });
  } catch (error) {
    throw new StartError(`${field} is ${address}, ${reasonOf(error as NodeJS.ErrnoException)}`, error);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'but that port is in use: end the process that holds it, or choose another port.',
  EACCES: 'but this user may not open that port: choose one above 1023.',
  EADDRNOTAVAIL: 'but this machine does not have that address.',
};

const socketReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'but another process listens there, or a file has that name.',
  // Error code of the system, also for a folder that is missing.
  EACCES: 'but this user may not create it there, or its folder does not exist.',
};

function reasonOf({ code, message }: NodeJS.ErrnoException, known = reasons): string {
  return known[code ?? ''] ?? `and it could not be opened: ${message}.`;
}
