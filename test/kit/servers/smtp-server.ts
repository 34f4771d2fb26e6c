import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A small mail server on loopback that accepts no mail: it only says which recipients it knows. */
export class SmtpServer {
  /** Replies to `RCPT TO`, by the local part of the address; all others are accepted. */
  readonly refused = new Map<string, string>();
  /** Greeting of every client; undefined: none. */
  greeting: string | undefined = '220 mail.test ESMTP';
  /** Every command. */
  readonly commands: string[] = [];
  port = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));

  static async start(): Promise<SmtpServer> {
    const server = new SmtpServer();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    server.port = (server.#server.address() as AddressInfo).port;
    return server;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let pending = '';
    if (this.greeting !== undefined) socket.write(`${this.greeting}\r\n`);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      pending += chunk;
      const lines = pending.split('\r\n');
      pending = lines.pop() ?? '';
      for (const line of lines) {
        this.commands.push(line);
        socket.write(`${this.#replyTo(line)}\r\n`);
        if (line === 'QUIT') socket.end();
      }
    });
  }

  #replyTo(command: string): string {
    if (command.startsWith('EHLO ')) return '250-mail.test\r\n250-SIZE 10000\r\n250 ENHANCEDSTATUSCODES';
    const [, local] = /^RCPT TO:<([^@]*)@/.exec(command) ?? [];
    return (local !== undefined && this.refused.get(local)) || (command === 'QUIT' ? '221 bye' : '250 2.1.0 ok');
  }
}
