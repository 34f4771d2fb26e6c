import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';

export interface SubscriberMessage {
  readonly data?: any; // eslint-disable-line typescript/no-explicit-any -- answers are asserted, not typed
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

/** How long a test waits for a message before it fails, in milliseconds. */
const timeoutMs = 30_000;

/** A subscription over server-sent events, as a program reads it. */
export class EventSubscriber {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #abort: AbortController;
  readonly #decoder = new TextDecoder();
  readonly response: Response;
  #text = '';

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
  }

  /** @param headers credentials */
  static async open(
    url: string,
    query: string,
    headers: Readonly<Record<string, string>>,
    variables: object = {},
  ): Promise<EventSubscriber> {
    const abort = new AbortController();
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      signal: abort.signal,
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
      throw new Error(`no stream: ${response.status} ${await response.text()}`);
    return new EventSubscriber(response, abort);
  }

  /** The next message; undefined when the stream is complete. */
  next(): Promise<SubscriberMessage | undefined> {
    return withTimeout(this.#next(), timeoutMs, () => {
      throw new Error(`no message came; what came last: ${this.#text}`);
    });
  }

  async #next(): Promise<SubscriberMessage | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const event = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        if (event.startsWith('event: next\ndata: ')) return JSON.parse(event.slice(18)) as SubscriberMessage;
        if (event.startsWith('event: complete')) return undefined;
        continue;
      }
      const { done, value } = await this.#reader.read();
      if (done) throw new Error(`the stream was cut: ${this.#text}`);
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  close(): void {
    this.#abort.abort();
  }
}
