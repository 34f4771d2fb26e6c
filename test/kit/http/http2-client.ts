import {
  connect,
  type ClientHttp2Session,
  type ClientSessionOptions,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2';

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A connection with HTTP/2 to a server with this certificate. */
export async function http2Connection(
  url: string,
  cert: string,
  options: ClientSessionOptions & SecureClientSessionOptions = {},
): Promise<ClientHttp2Session> {
  const session = connect(url, { ca: cert, ...options });
  // Tests look at what became of the connection.
  session.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    session.once('remoteSettings', () => resolve());
    session.once('error', reject);
    session.once('close', () => reject(new Error('the connection was closed')));
  });
  return session;
}

/** Sends a request and reads the whole answer. @throws Error when the stream ends without one */
export function http2Request(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let answer: Omit<Http2Answer, 'text'> | undefined;
    let text = '';
    stream.setEncoding('utf8');
    stream.on('response', (received) => {
      answer = { status: Number(received[':status']), headers: { ...received } };
    });
    stream.on('data', (chunk: string) => (text += chunk));
    stream.on('error', reject);
    stream.on('close', () => {
      if (answer) resolve({ ...answer, text });
      else reject(new Error(`no answer: the stream was closed with ${stream.rstCode}`));
    });
    if (body !== undefined) stream.end(body);
  });
}

export function closed(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    if (session.closed || session.destroyed) resolve();
    else session.once('close', () => resolve());
  });
}
