import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** A message of the Chrome DevTools Protocol. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: any; // eslint-disable-line typescript/no-explicit-any -- each method has another result
  readonly error?: { readonly message: string };
}

/** One page of a real Chromium without a window, driven by the Chrome DevTools Protocol over two pipes. */
export class Browser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #listeners = new Set<(message: Message) => void>();
  #session: string | undefined;
  #count = 0;

  private constructor(program: string, profile: string) {
    this.#profile = profile;
    const flags = ['--headless=new', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage', '--no-sandbox'];
    this.#child = spawn(program, [...flags, '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    void this.#read(this.#child.stdio[4] as Readable);
  }

  /** @returns the browser, or why there is none: then the tests that need one are skipped with it */
  static async start(): Promise<Browser | string> {
    const program = process.env['CHROMIUM'] ?? '/usr/bin/chromium'; // oxlint-disable-line no-restricted-properties -- where the browser of this machine is
    if (!existsSync(program)) return `there is no Chromium at ${program}; the variable CHROMIUM names another place`;
    const browser = new Browser(program, await mkdtemp(join(tmpdir(), 'core-browser-')));
    const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
    browser.#session = sessionId as string;
    await browser.send('Page.enable');
    return browser;
  }

  /** Calls a method of the protocol. */
  async send(method: string, params: object = {}): Promise<NonNullable<Message['result']>> {
    const id = ++this.#count;
    const answer = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    const sessionId = this.#session === undefined ? {} : { sessionId: this.#session };
    (this.#child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...sessionId })}\0`);
    const { result, error } = await answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Opens a page and waits until it is loaded. */
  async open(url: string): Promise<void> {
    // The same page with another fragment would not be loaded anew.
    await this.#navigate('about:blank');
    await this.#navigate(url);
  }

  /** The value of an expression in the page, after it is resolved. @param expression JavaScript */
  async evaluate(
    expression: string,
  ): Promise<any> /* eslint-disable-line typescript/no-explicit-any -- asserted, not typed */ {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async #navigate(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => {
      const listener = ({ method }: Message) => {
        if (method !== 'Page.loadEventFired') return;
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
    });
    const { errorText } = await this.send('Page.navigate', { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  /** Messages end with a zero byte. */
  async #read(stream: Readable): Promise<void> {
    let rest = '';
    for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
      const parts = (rest + chunk).split('\0');
      rest = parts.pop() ?? '';
      for (const part of parts) this.#take(JSON.parse(part) as Message);
    }
    for (const [, resolve] of this.#waiting) resolve({ error: { message: 'the browser has ended' } });
  }

  #take(message: Message): void {
    if (message.id === undefined) for (const listener of this.#listeners) listener(message);
    else this.#waiting.get(message.id)?.(message);
    if (message.id !== undefined) this.#waiting.delete(message.id);
  }
}
