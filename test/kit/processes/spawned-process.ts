import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ownRoot = fileURLToPath(new URL('../../..', import.meta.url));
/** Where Node keeps what it has compiled: processes start in two thirds of the time. */
export const compileCache = join(ownRoot, '.local', 'compile-cache');

export interface ServerProcessOptions {
  readonly program: 'api/api-main.ts' | 'worker/worker-main.ts' | 'test/chaos/waking-worker.ts';
  readonly environment: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Another copy of the repository; this one when left out. */
  readonly root?: string;
  /** Logs to a file, which is read when somebody asks for the log: under load, reading would be work. */
  readonly isSilent?: boolean;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Variables that a process needs to run, and those of its memory (bootstrap.mjs). */
function inherited(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => /^(PATH|NODE_OPTIONS|MALLOC_\w+|GLIBC_TUNABLES)$/.test(name)); // oxlint-disable-line no-restricted-properties -- see above
  return Object.fromEntries(names.map((name) => [name, process.env[name]])); // oxlint-disable-line no-restricted-properties -- see above
}

/** A process of the product as it runs in production, for tests of its life and death. */
export class ProductProcess {
  readonly #lines: Record<string, unknown>[] = [];
  /** Output other than log lines: messages of a start that failed, stacks. */
  output = '';
  /** Resolves when it says that it serves. Rejects when it ends before. */
  readonly ready: Promise<void>;
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  /** The file to which it logs, if it is silent. */
  readonly #logFile: number | undefined;
  /** The beginning of a line. */
  #rest = '';
  #isReady = false;

  constructor({ program, environment, args = [], root = ownRoot, isSilent = false }: ServerProcessOptions) {
    const file = isSilent ? unnamedFile() : undefined;
    this.#logFile = file?.reader;
    this.#child = spawn(process.execPath, [program, ...args], {
      cwd: root,
      env: { ...inherited(), NODE_COMPILE_CACHE: compileCache, ...environment },
      stdio: ['ignore', file?.writer ?? 'pipe', 'pipe', 'ipc'],
    });
    if (file) closeSync(file.writer);
    this.#read();
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

  /** Its log, line by line. */
  get logs(): readonly Record<string, unknown>[] {
    // From where the last reading ended.
    if (this.#logFile !== undefined) this.#add(readFileSync(this.#logFile, 'utf8'));
    return this.#lines;
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

  #read(): void {
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#add(chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
  }

  #add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      try {
        this.#lines.push(JSON.parse(line) as Record<string, unknown>);
      } catch {
        this.output += `${line}\n`;
      }
    }
  }
}

/** A file that is gone when nobody has it open any more, to write to and to read from. */
function unnamedFile(): { readonly writer: number; readonly reader: number } {
  const folder = mkdtempSync(join(tmpdir(), 'core-silent-'));
  const path = join(folder, 'log');
  const file = { writer: openSync(path, 'w'), reader: openSync(path, 'r') };
  rmSync(folder, { recursive: true });
  return file;
}
