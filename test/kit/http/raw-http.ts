import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface RawAnswer {
  /** Everything that came back, undecoded. */
  readonly text: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A bare connection, for what no HTTP client would send. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  #received = '';

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (chunk: string) => (this.#received += chunk));
    // The server may cut the connection while we write.
    this.#socket.on('error', () => {});
    this.#closed = new Promise((resolve) => this.#socket.once('close', () => resolve()));
  }

  /** Text goes out as latin1: one character is one byte. */
  write(bytes: string | Buffer): void {
    this.#socket.write(bytes, 'latin1');
  }

  /** Ends the connection after all that was written: the server reads everything, and then that no more comes. */
  finish(): void {
    this.#socket.end();
  }

  /** Stops reading, so that the answer piles up. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** All that came until the server closed the connection. */
  async untilClosed(withinMs = 60_000): Promise<string> {
    await Promise.race([
      this.#closed,
      pause(withinMs, undefined, { ref: false }).then(() => {
        this.end();
        throw new Error(`the server kept the connection for more than ${withinMs} ms; it sent: ${this.#received}`);
      }),
    ]);
    return this.#received;
  }

  /** All that has come so far. */
  get received(): string {
    return this.#received;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  end(): void {
    this.#socket.destroy();
  }
}

/** Sends these bytes on a new connection and reads until the server closes it. */
export async function exchange(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  const connection = new RawConnection(url);
  connection.write(bytes);
  return parseAnswer(await connection.untilClosed());
}

export function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  return {
    text,
    status: Number(line.split(' ')[1] ?? 0),
    headers: Object.fromEntries(
      lines.map((each) => [each.slice(0, each.indexOf(':')).toLowerCase(), each.slice(each.indexOf(':') + 1).trim()]),
    ),
    body: rest.join('\r\n\r\n'),
  };
}
