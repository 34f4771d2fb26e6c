import { once } from 'node:events';
import { Socket } from 'node:net';

/** Answer of a mail server about a mailbox. `unknown`: it says nothing that can be relied on. */
type MailboxState = 'exists' | 'missing' | 'unknown';

/** Maximum number of characters of all replies of a server. */
const maxReplies = 65_536;

/** Codes with which a server refuses a recipient for good (RFC 5321, section 4.2.3). */
const refusals: ReadonlySet<number> = new Set([550, 551, 553]);

/** An enhanced code that is about something else than the mailbox, such as the sender's network (RFC 3463). */
const isAboutElse = /^5\.(?!1\.)\d/;

interface MailServerQuestion {
  readonly address: string;
  readonly port: number;
  /** Name with which this server introduces itself. */
  readonly ownName: string;
  readonly email: string;
  readonly postmaster: string;
  /** Ends the conversation. */
  readonly signal: AbortSignal;
}

interface Reply {
  readonly code: number;
  readonly text: string;
}

/**
 * Asks a mail server whether it accepts mail for an address, and sends none. A refusal is used only if the server accepts the postmaster of
 * the domain, as every server must (RFC 5321, section 4.5.1): one that refuses both refuses us.
 * @throws the error of a connection that fails
 */
export async function askMailServer(question: MailServerQuestion): Promise<MailboxState> {
  const { address, port, ownName, email, postmaster, signal } = question;
  const socket = new Socket({ signal });
  // A failure while nobody reads, such as that of the last command, must not end the process.
  socket.on('error', () => {});
  try {
    socket.connect({ host: address, port });
    await once(socket, 'connect', { signal });
    const replies = repliesOf(socket);
    const say = async (command: string): Promise<Reply | undefined> => {
      socket.write(`${command}\r\n`);
      return (await replies.next()).value ?? undefined;
    };
    const greeting = (await replies.next()).value ?? undefined;
    if (!isPositive(greeting)) return 'unknown';
    if (!isPositive(await say(`EHLO ${ownName}`)) && !isPositive(await say(`HELO ${ownName}`))) return 'unknown';
    // The null sender, to which no mail is returned (RFC 5321, section 4.5.5).
    if (!isPositive(await say('MAIL FROM:<>'))) return 'unknown';
    const state = stateOf(await say(`RCPT TO:<${email}>`));
    if (state !== 'missing') return state;
    return isPositive(await say(`RCPT TO:<${postmaster}>`)) ? 'missing' : 'unknown';
  } finally {
    if (socket.writable) socket.write('QUIT\r\n');
    socket.destroySoon();
  }
}

function isPositive(reply: Reply | undefined): boolean {
  return reply !== undefined && reply.code >= 200 && reply.code < 300;
}

function stateOf(reply: Reply | undefined): MailboxState {
  // 252: the server does not know.
  if (isPositive(reply)) return reply?.code === 252 ? 'unknown' : 'exists';
  return reply && refusals.has(reply.code) && !isAboutElse.test(reply.text) ? 'missing' : 'unknown';
}

/** The replies of a server, each with the text of its last line. @throws Error for what is not SMTP */
async function* repliesOf(socket: Socket): AsyncGenerator<Reply, undefined> {
  let pending = '';
  let total = 0;
  socket.setEncoding('latin1');
  for await (const chunk of socket as AsyncIterable<string>) {
    pending += chunk;
    total += chunk.length;
    if (total > maxReplies) throw new Error(`the mail server sent more than ${maxReplies} characters`);
    for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
      const line = pending.slice(0, end).trimEnd();
      pending = pending.slice(end + 1);
      const [, code, more, text = ''] = /^(\d{3})([ -]?)(.*)$/.exec(line) ?? [];
      if (code === undefined) throw new Error('the mail server sent something that is no reply');
      if (more !== '-') yield { code: Number(code), text };
    }
  }
  return undefined;
}
