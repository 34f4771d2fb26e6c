import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ownRoot = fileURLToPath(new URL('../..', import.meta.url));
/** Where Node keeps what it has compiled: processes start in two thirds of the time. */
export const compileCache = join(ownRoot, '.local', 'compile-cache');

export interface ServerProcessOptions {
  readonly program: 'api/api-main.ts' | 'worker/worker-main.ts' | 'test/kit/counting-worker.ts';
  readonly environment: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Another copy of the repository; this one when left out. */
  readonly root?: string;
  /** Forgets what it logs once it serves and has said where: under load, reading it would be work. */
  readonly isSilent?: boolean;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a process needs to run at all, and how it uses memory (bootstrap.mjs). */
function inherited(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => /^(PATH|NODE_OPTIONS|MALLOC_\w+|GLIBC_TUNABLES)$/.test(name)); // oxlint-disable-line no-restricted-properties -- see above
  return Object.fromEntries(names.map((name) => [name, process.env[name]])); // oxlint-disable-line no-restricted-properties -- see above
}

/** A process of the product as it runs in production, for tests of its life and death. */
export class ProductProcess {
  /** Its log, line by line. */
  readonly logs: Record<string, unknown>[] = [];
  /** What is no log line: messages of a start that failed, stacks. */
  output = '';
  /** Resolves when it says that it serves. Rejects when it ends before. */
  readonly ready: Promise<void>;
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  #isReady = false;

  constructor({ program, environment, args = [], root = ownRoot, isSilent = false }: ServerProcessOptions) {
    this.#child = spawn(process.execPath, [program, ...args], {
      cwd: root,
      env: { ...inherited(), NODE_COMPILE_CACHE: compileCache, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#read(isSilent);
    // Not `close`, which never comes once the channel was closed by hand.
    const streams = [this.#child.stdout, this.#child.stderr].map((stream) => stream && once(stream, 'close'));
    this.ended = Promise.all([once(this.#child, 'exit'), ...streams]).then(([[code, signal]]) => ({ code, signal }));
    this.ready = new Promise((resolve, reject) => {
      this.#child.once('message', () => {
        this.#isReady = true;
        resolve();
      });
      void this.ended.then(({ code, signal }) =>
        reject(new Error(`${program} ended (${code ?? signal}):\n${this.tail}`)),
      );
    });
    this.ready.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Address of the API. */
  get url(): string {
    return this.#logged('url', (line) => line['msg'] === 'api ready');
  }

  /** Address of the metrics. */
  get metricsUrl(): string {
    return this.#logged('metrics', () => true);
  }

  /** It said that it serves, and runs. */
  get isServing(): boolean {
    return this.#isReady && this.isRunning;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The end of what it said. */
  get tail(): string {
    return [...this.logs.slice(-8).map((line) => JSON.stringify(line)), this.output.slice(-4_000)].join('\n');
  }

  /** Closes the channel to it, as the end of the process that started it does. */
  abandon(): void {
    this.#child.disconnect();
  }

  /** Ends it on the spot. */
  async kill(): Promise<void> {
    if (this.isRunning) this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** Asks it to end. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<ProcessEnd> {
    if (this.isRunning) this.#child.kill(signal);
    return this.ended;
  }

  #logged(key: string, isWanted: (line: Record<string, unknown>) => boolean): string {
    const value = this.logs.find((line) => typeof line[key] === 'string' && isWanted(line))?.[key];
    return typeof value === 'string' ? value : '';
  }

  #read(isSilent: boolean): void {
    let rest = '';
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      if (isSilent && this.url !== '') return;
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        try {
          this.logs.push(JSON.parse(line) as Record<string, unknown>);
        } catch {
          this.output += `${line}\n`;
        }
      }
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
  }
}
