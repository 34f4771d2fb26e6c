import { BenchProcess } from '../bench-process.ts';

export interface SinkQuestion {
  readonly wantsArrivals?: boolean;
  /** Forgets what has come so far. */
  readonly forgets?: boolean;
  /** Whether messages to `/hang` are left without an answer from now on. */
  readonly hangs?: boolean;
}

export interface Arrivals {
  /** When the first copy of each message came, by its id. */
  readonly arrivals: readonly (readonly [id: string, at: number])[];
  /** How many messages came. */
  readonly count: number;
  /** The same, with further copies. */
  readonly copies: number;
}

/** The server of customers in a process of its own (message-sink.ts). */
export class BenchSink {
  readonly url: string;
  readonly #process: BenchProcess;

  private constructor(process: BenchProcess, url: string) {
    this.#process = process;
    this.url = url;
  }

  static async start(): Promise<BenchSink> {
    const process = new BenchProcess('test/bench/messages/message-sink.ts');
    const { url } = await process.next<{ url: string }>();
    return new BenchSink(process, url);
  }

  async arrivals(): Promise<ReadonlyMap<string, number>> {
    return new Map((await this.#process.ask<Arrivals>({ wantsArrivals: true } satisfies SinkQuestion)).arrivals);
  }

  /** What has come since the last time. */
  take(): Promise<Arrivals> {
    return this.#process.ask<Arrivals>({ forgets: true } satisfies SinkQuestion);
  }

  async setHanging(hangs: boolean): Promise<void> {
    await this.#process.ask({ hangs } satisfies SinkQuestion);
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }
}
