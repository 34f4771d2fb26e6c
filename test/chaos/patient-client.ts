import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../kit/eventually.ts';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TrafficOptions {
  /** Addresses that may be asked now; while there are none, people wait. */
  readonly urls: () => readonly string[];
  /** Statuses that tell people to come again, besides no answer at all; default 503, which a busy machine answers, too. */
  readonly again?: readonly number[];
}

export interface PatientRequest {
  readonly method?: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends requests while servers die, and repeats each until it is answered. */
export class PatientClient {
  /** Requests that nobody answered. */
  unanswered = 0;
  /** Answers that said to come again: content types of their bodies. */
  readonly putOff: string[] = [];
  readonly #options: TrafficOptions;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  async untilAnswered(request: PatientRequest): Promise<{ readonly answer: Answer; readonly attempts: number }> {
    const { again = [503] } = this.#options;
    for (let attempts = 1; ; attempts++) {
      const answer = await this.#ask(request);
      if (answer && !again.includes(answer.status)) return { answer, attempts };
      if (answer) {
        this.putOff.push(answer.type);
        // As a client does that is told to come again.
        await pause(100);
      } else this.unanswered++;
    }
  }

  /** Waits until an address may be asked. What the question throws stays true: nobody starts a process again that ended by itself. */
  async #anyUrl(): Promise<string> {
    const first = someOf(this.#options.urls());
    if (first !== undefined) return first;
    let refusal: unknown;
    const url = await eventually(() => {
      try {
        return someOf(this.#options.urls());
      } catch (error) {
        refusal = error;
        return '';
      }
    });
    if (refusal !== undefined) throw refusal;
    return url;
  }

  async #ask({ method = 'POST', path, body, headers }: PatientRequest): Promise<Answer | undefined> {
    const url = await this.#anyUrl();
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const type = response.headers.get('content-type') ?? '';
      return { status: response.status, type, body: (await response.json()) as Answer['body'] };
    } catch {
      return undefined;
    }
  }
}

/** Does something again and again until told to stop. @param pauseMs time between two, in which servers get on */
export async function repeat(signal: AbortSignal, visit: () => Promise<void>, pauseMs: number): Promise<void> {
  while (!signal.aborted) {
    await visit();
    await pause(pauseMs);
  }
}

function someOf(urls: readonly string[]): string | undefined {
  return urls[Math.floor(Math.random() * urls.length)];
}
