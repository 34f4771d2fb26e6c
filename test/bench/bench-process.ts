import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A process that takes part in a benchmark: a floor, a peer, or the one that makes the load. It speaks by messages. */
export class BenchProcess {
  readonly #child: ChildProcess;

  /** @param program path from the root of the repository */
  constructor(program: string, environment: Readonly<Record<string, string>> = {}) {
    this.#child = fork(join(root, program), { cwd: root, env: { ...process.env, ...environment } });
  }

  /** What it says next. */
  async next<Message>(): Promise<Message> {
    const heard = new AbortController();
    const { signal } = heard;
    const ended = once(this.#child, 'exit', { signal }).then(([code]) => {
      throw new Error(`a process of the benchmark ended (${String(code)})`);
    });
    try {
      const [message] = (await Promise.race([once(this.#child, 'message', { signal }), ended])) as [Message];
      return message;
    } finally {
      ended.catch(() => {});
      heard.abort();
    }
  }

  ask<Message>(question: object): Promise<Message> {
    const answer = this.next<Message>();
    this.#child.send(question);
    return answer;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill();
    await ended;
  }
}
