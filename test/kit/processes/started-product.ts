import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { rememberPorts } from '#temporal-dev/product/product-ports.ts';
import type { ReadyFacts } from '#temporal-dev/product/ready-block.ts';
import { compileCache } from './spawned-process.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The product as `npm start` runs it, with a state folder of its own. */
export class StartedProduct {
  readonly stateDir = mkdtempSync(join(tmpdir(), 'core-start-'));
  output = '';
  facts!: ReadyFacts;
  #child: ChildProcess | undefined;
  #args: readonly string[] = [];
  #environment: Readonly<Record<string, string>> = {};
  #ended: Promise<number | null> = Promise.resolve(0);

  /** @param args as after `npm start --` */
  static async start(
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<StartedProduct> {
    const product = new StartedProduct();
    // Two that start at one time would find the same ports free.
    const api = 12_000 + 6 * randomInt(400);
    rememberPorts(product.stateDir, {
      api,
      metrics: api + 1,
      codec: api + 2,
      workerMetrics: api + 3,
      payment: api + 4,
      identity: api + 5,
    });
    product.#args = args;
    product.#environment = environment;
    await product.#run();
    return product;
  }

  async restart(): Promise<void> {
    await this.#interrupt();
    await this.#run();
  }

  /** A GraphQL query as a person of the demo. */
  async query(query: string, username = this.facts.demo.email): Promise<unknown> {
    const { urls, demo } = this.facts;
    const first = await fetch(urls.api, { redirect: 'manual' });
    const cookie = (first.headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string;
    const login = await fetch(`${urls.api}/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie, 'x-csrf-token': cookie.slice(cookie.indexOf('=') + 1) },
      body: JSON.stringify({ username, password: demo.password }),
    });
    const { access_token: token } = (await login.json()) as { access_token: string };
    const answer = await fetch(urls.graphql, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query }),
    });
    return ((await answer.json()) as { data: unknown }).data;
  }

  /** The process id that `ready.json` names now. */
  pidOf(name: string): number {
    const { pids } = JSON.parse(readFileSync(join(this.stateDir, 'ready.json'), 'utf8')) as ReadyFacts;
    return pids[name] as number;
  }

  /** Resolves with the exit code when it ends by itself. */
  async ended(): Promise<number | null> {
    const code = await this.#ended;
    this.#ended = Promise.resolve(0);
    return code;
  }

  async stop(): Promise<void> {
    await this.#interrupt();
    rmSync(this.stateDir, { recursive: true, force: true });
  }

  async #run(): Promise<void> {
    this.output = '';
    const child = spawn(process.execPath, ['temporal-dev/start-main.ts', ...this.#args], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        STACK_STATE_DIR: this.stateDir,
        NODE_COMPILE_CACHE: compileCache,
        ...this.#environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('exit', resolve));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    const file = join(this.stateDir, 'ready.json');
    while (!existsSync(file)) {
      if (child.exitCode !== null) throw new Error(`the start ended with ${child.exitCode}:\n${this.output}`);
      await pause(50);
    }
    this.facts = JSON.parse(readFileSync(file, 'utf8')) as ReadyFacts;
  }

  async #interrupt(): Promise<void> {
    this.#child?.kill('SIGINT');
    const code = await this.#ended;
    if (code !== 0) throw new Error(`the stop ended with ${code}:\n${this.output}`);
  }
}
