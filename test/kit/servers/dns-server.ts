import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The records of one name. */
export interface DnsRecords {
  readonly mx?: readonly (readonly [preference: number, host: string])[];
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** Another name of the zone that it stands for. */
  readonly cname?: string;
  readonly txt?: readonly string[];
}

/** Behaviour of a name server for questions about a name: it answers, fails (SERVFAIL), or is silent. */
type Behaviour = DnsRecords | 'failing' | 'silent';

const types = { a: 1, cname: 5, mx: 15, txt: 16, aaaa: 28 } as const;
const responseCodes = { noError: 0, serverFailure: 2, noSuchName: 3 } as const;

/** A small authoritative name server on loopback (RFC 1035, over UDP and TCP). */
export class DnsServer {
  readonly zone = new Map<string, Behaviour>();
  /** Every question, as `TYPE name`. */
  readonly asked: string[] = [];
  address = '';
  readonly #socket = createSocket('udp4');
  readonly #server = createServer((socket) => this.#serve(socket));

  static async start(): Promise<DnsServer> {
    const server = new DnsServer();
    server.#socket.on('message', (query, from) => server.#reply(query, from));
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    const { port } = server.#server.address() as AddressInfo;
    server.#socket.bind(port, '127.0.0.1');
    await once(server.#socket, 'listening');
    server.address = `127.0.0.1:${port}`;
    return server;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #reply(query: Buffer, from: RemoteInfo): void {
    const answer = this.#answer(query);
    if (answer) this.#socket.send(answer, from.port, from.address);
  }

  /** One question on each connection, with its length before it. */
  #serve(socket: Socket): void {
    let received = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const answer = this.#answer(received.subarray(2));
      if (!answer) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      socket.end(Buffer.concat([length, answer]));
    });
  }

  #answer(query: Buffer): Buffer | undefined {
    const { name, end } = readName(query, 12);
    const type = query.readUInt16BE(end);
    this.asked.push(`${type} ${name}`);
    const behaviour = this.zone.get(name.toLowerCase());
    if (behaviour === 'silent') return undefined;
    const answers = typeof behaviour === 'object' ? this.#answersOf(name, behaviour, type) : [];
    const code =
      behaviour === undefined
        ? responseCodes.noSuchName
        : behaviour === 'failing'
          ? responseCodes.serverFailure
          : responseCodes.noError;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    // A response, authoritative, recursion desired and available.
    header.writeUInt16BE(0x8580 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    return Buffer.concat([header, query.subarray(12, end + 4), ...answers]);
  }

  /** With the aliases on the way to them, as a resolver answers. */
  #answersOf(name: string, records: DnsRecords, type: number): Buffer[] {
    const { cname } = records;
    if (cname === undefined) return recordsOf(name, records, type);
    const target = this.zone.get(cname);
    const alias = recordOf(name, types.cname, writtenName(cname));
    return [alias, ...(typeof target === 'object' ? this.#answersOf(cname, target, type) : [])];
  }
}

function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

function writtenText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
}

function writtenName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  const parts = labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]);
  return Buffer.concat([...parts, Buffer.from([0])]);
}

function recordsOf(name: string, { mx = [], a = [], aaaa = [], txt = [] }: DnsRecords, type: number): Buffer[] {
  const data: Readonly<Record<number, readonly Buffer[]>> = {
    [types.mx]: mx.map(([preference, host]) =>
      Buffer.concat([Buffer.from([preference >> 8, preference & 255]), writtenName(host)]),
    ),
    [types.a]: a.map((address) => Buffer.from(address.split('.').map(Number))),
    [types.aaaa]: aaaa.map((address) => Buffer.from(ipaddr.parse(address).toByteArray())),
    // In two parts, as a long text has to be.
    [types.txt]: txt.map((text) => Buffer.concat([text.slice(0, 9), text.slice(9)].map(writtenText))),
  };
  return (data[type] ?? []).map((one) => recordOf(name, type, one));
}

/** A record: its name, type, class IN, no caching (a time to live of 0), and its data. */
function recordOf(name: string, type: number, data: Buffer): Buffer {
  const head = [type >> 8, type & 255, 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 255];
  return Buffer.concat([writtenName(name), Buffer.from(head), data]);
}
