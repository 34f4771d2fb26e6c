import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

/** How often a stream is looked at within the time in which its client must take some of it. */
const looks = 10;

/**
 * Closes the connection, or the stream of HTTP/2, when its client has taken nothing for this time. A source that stands still is cut off as
 * well.
 */
export function cutWhenStalled(raw: ServerResponse, timeoutMs: number): void {
  const stream = (raw as { readonly stream?: ServerHttp2Stream }).stream;
  let drains = 0;
  stream?.on('drain', () => drains++);
  // Of a connection with several streams, only that of this answer is cut off.
  const progress = () => (stream ? `${drains} ${stream.writableLength}` : takenOf(raw.socket));
  let taken = progress();
  let takenAt = performance.now();
  const timer = setInterval(() => {
    const now = progress();
    if (now !== taken) {
      taken = now;
      takenAt = performance.now();
    } else if (performance.now() - takenAt >= timeoutMs) raw.destroy();
  }, timeoutMs / looks);
  raw.once('close', () => clearInterval(timer));
}

/** Numbers that change whenever the client takes bytes: of the writes that are complete, and of the one that is being sent. */
function takenOf(socket: Socket | null): string {
  // `bytesWritten` includes what still waits here. `writeQueueSize` is what the system has not taken of the current write; Node's own
  // timeouts use it (lib/net.js), and without it a slow client would need a whole write within the time.
  const { _handle: handle } = (socket ?? {}) as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return `${(socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0)} ${handle?.writeQueueSize ?? 0}`;
}
