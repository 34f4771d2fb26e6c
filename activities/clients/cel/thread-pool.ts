import { Worker } from 'node:worker_threads';
import type { ThreadData } from './heap-limit.ts';
import { compileTimeoutMs, type ThreadRequest, type ThreadResponse } from './thread-request.ts';

/** How a request ended: with the answer of a thread, with the thread, or before it had one. */
export type PoolAnswer =
  | ThreadResponse
  | { readonly ended: 'memory' | 'stuck'; /** Item at which the thread ended. */ readonly at: number }
  | { readonly refused: 'busy' | 'late' };

interface Job {
  readonly request: ThreadRequest;
  readonly answer: (answer: PoolAnswer) => void;
  readonly fail: (error: Error) => void;
  /** Ends the wait for a thread. */
  readonly timer: NodeJS.Timeout | undefined;
}

/** Requests that may wait for a thread. */
const maxWaiting = 1000;

/** Time beyond its timeouts after which a thread without progress is stopped, in milliseconds: V8 interrupts no native code. */
const graceMs = 1000;

export interface PoolOptions {
  readonly threads: number;
  /** Heap of one thread. */
  readonly memoryMb: number;
}

/** Threads that start with the first request. One more stands by, since a new one needs 0.2 s, and takes the place of one that ended. */
export class ThreadPool {
  readonly #options: PoolOptions;
  readonly #waiting: Job[] = [];
  readonly #idle: Worker[] = [];
  readonly #workers = new Set<Worker>();
  #busy = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @param waitMs how long the request may wait for a thread; undefined for as long as it takes */
  run(request: ThreadRequest, waitMs?: number): Promise<PoolAnswer> {
    if (this.#isClosed) return Promise.reject(closed());
    if (this.#waiting.length >= maxWaiting) return Promise.resolve({ refused: 'busy' });
    return new Promise((resolve, reject) => {
      const timer =
        waitMs === undefined
          ? undefined
          : setTimeout(() => {
              this.#waiting.splice(this.#waiting.indexOf(job), 1);
              resolve({ refused: 'late' });
            }, waitMs);
      const job: Job = { request, answer: resolve, fail: reject, timer };
      this.#waiting.push(job);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { fail, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      fail(closed());
    }
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
  }

  #next(): void {
    if (this.#isClosed || this.#busy >= this.#options.threads) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    clearTimeout(job.timer);
    this.#busy++;
    const worker = this.#idle.shift() ?? this.#start();
    // All that may work at the same time, and one that stands by.
    if (this.#workers.size < this.#options.threads + 1) this.#idle.push(this.#start());
    this.#give(worker, job);
  }

  #give(worker: Worker, { request, answer, fail }: Job): void {
    let reason: 'memory' | 'stuck' | undefined;
    let seen = -1;
    const watch = setInterval(
      () => {
        const steps = Atomics.load(request.progress, 0);
        if (steps === seen) {
          reason = 'stuck';
          void worker.terminate();
        }
        seen = steps;
      },
      compileTimeoutMs + request.limits.timeout + graceMs,
    );
    const settle = (isAlive: boolean, deliver: () => void) => {
      clearInterval(watch);
      worker.removeAllListeners('message').removeAllListeners('error').removeAllListeners('exit');
      worker.unref();
      if (isAlive) {
        this.#idle.unshift(worker);
        this.#watchIdle(worker);
      } else this.#workers.delete(worker);
      this.#busy--;
      deliver();
      this.#next();
    };
    worker.removeAllListeners('exit').removeAllListeners('error');
    worker.once('message', (response: ThreadResponse) => settle(reason === undefined, () => answer(response)));
    let failure: Error | undefined;
    worker.on('error', (error: Error & { readonly code?: string }) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') reason = 'memory';
      else failure = error;
    });
    worker.once('exit', (code) =>
      settle(false, () => {
        if (this.#isClosed) fail(closed());
        else if (reason === undefined)
          fail(failure ?? new Error(`A thread that evaluates expressions ended with code ${code}`));
        else answer({ ended: reason, at: Atomics.load(request.progress, 1) });
      }),
    );
    worker.ref();
    try {
      worker.postMessage(request);
    } catch (error) {
      // A variable that no message can carry, such as a function: a mistake of the caller.
      settle(true, () => fail(error instanceof Error ? error : new Error(String(error))));
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL('cel-thread.ts', import.meta.url), {
      name: 'cel',
      // An expression must not find the secrets of the process, whatever it escapes from.
      env: {},
      workerData: { maxHeapBytes: this.#options.memoryMb * 1024 * 1024 } satisfies ThreadData,
      execArgv: [],
      // The thread ends its evaluations at `memoryMb`; this is for what it does not see, such as the parser.
      resourceLimits: { maxOldGenerationSizeMb: this.#options.memoryMb * 2, maxYoungGenerationSizeMb: 16 },
    });
    worker.unref();
    this.#workers.add(worker);
    this.#watchIdle(worker);
    return worker;
  }

  /** A thread that ends while it has no request is replaced with the next request; its failure then shows itself again. */
  #watchIdle(worker: Worker): void {
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      this.#workers.delete(worker);
      const at = this.#idle.indexOf(worker);
      if (at >= 0) this.#idle.splice(at, 1);
    });
  }
}

function closed(): Error {
  return new Error('The evaluator of expressions is closed');
}
