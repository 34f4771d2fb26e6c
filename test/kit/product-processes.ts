import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { eventually } from './eventually.ts';
import { ServerProcess, type ServerProcessOptions } from './server-process.ts';
import { removeSchedules, type World } from './world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Schedule that sweeps every second. */
const often = 'sweep-often';

export type Program = ServerProcessOptions['program'];

/** One process of several lives: when it is killed, the next one starts at once. */
export class Place {
  readonly program: Program;
  readonly #environment: Readonly<Record<string, string>>;
  /** How a process ended that nobody killed, with the last it said. */
  #crash: string | undefined;
  #isClosed = false;
  #nextLife: Readonly<Record<string, string>> = {};
  #current: ServerProcess;

  constructor(program: Program, environment: Readonly<Record<string, string>>) {
    this.program = program;
    this.#environment = environment;
    this.#current = this.#start();
    void this.#keep();
  }

  get current(): ServerProcess {
    return this.#current;
  }

  /** Processes only end when they are killed. */
  refuseCrash(): void {
    if (this.#crash !== undefined) throw new Error(this.#crash);
  }

  /**
   * Kills the process.
   * @param nextLife more variables for the next process, and for that one only
   * @returns the next process; it is just starting
   */
  async replace(nextLife: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const killed = this.#current;
    this.#nextLife = nextLife;
    await killed.kill();
    return eventually(() => this.#current !== killed && this.#current);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#current.kill();
  }

  #start(): ServerProcess {
    const environment = { ...this.#environment, ...this.#nextLife };
    this.#nextLife = {};
    return new ServerProcess({ program: this.program, environment });
  }

  async #keep(): Promise<void> {
    for (;;) {
      const { code, signal } = await this.#current.ended;
      if (this.#isClosed) return;
      if (signal !== 'SIGKILL') {
        this.#crash = `${this.program} ended with ${code ?? signal}:\n${this.#current.tail}`;
        return;
      }
      this.#current = this.#start();
    }
  }
}

/** A world's product as it runs in production: API and worker processes that are killed and started again. */
export class ProductProcesses {
  readonly places: readonly Place[];
  readonly #world: World;

  constructor(world: World, programs: readonly Program[]) {
    this.#world = world;
    const folder = dirname(world.mailFolder);
    symlinkSync(dirname(inject('stack').bundlePath), join(folder, 'bundles'));
    const environment = {
      ...world.environment,
      // The world's own signing key: its processes and the world itself accept each other's tokens.
      STACK_STATE_DIR: folder,
      NODE_COMPILE_CACHE: join(root, '.local', 'compile-cache'),
      // What a dead process left behind is noticed in a second or two instead of half a minute.
      CORE_JOBQUEUE_QUEUECONF_JOBSTUCKTHRESHOLD: '2000',
      CORE_JOBQUEUE_QUEUECONF_RESCUESTUCKJOBSAFTER: '2000',
      CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: JSON.stringify([{ name: often, workflow: 'sweepOutbox', schedule: 1_000 }]),
    };
    this.places = programs.map((program) => new Place(program, environment));
  }

  /** Addresses of the APIs that serve now. @throws Error once a process has ended that nobody killed */
  get apiUrls(): string[] {
    this.refuseCrashes();
    return this.places.map(({ current }) => (current.isServing ? current.url : '')).filter((url) => url !== '');
  }

  /** The first process of this program. */
  placeOf(program: Program): Place {
    const place = this.places.find((candidate) => candidate.program === program);
    if (!place) throw new Error(`no ${program} runs here`);
    return place;
  }

  refuseCrashes(): void {
    for (const place of this.places) place.refuseCrash();
  }

  /** Ends all of them on the spot. */
  async close(): Promise<void> {
    await Promise.all(this.places.map((place) => place.close()));
    await removeSchedules(this.#world.name, this.#world.backbone, ['sweep-outbox', 'prune-records', often]);
  }
}
