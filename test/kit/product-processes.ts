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

type Program = ServerProcessOptions['program'];

/** One process of several lives: when it is killed, the next one starts at once. */
export interface Place {
  readonly program: Program;
  readonly current: ServerProcess;
  /** Deaths by SIGKILL so far, of its own hand or of others. */
  readonly deaths: number;
}

/** A world's product as it runs in production: API and worker processes that are killed and started again. */
export class ProductProcesses {
  readonly places: readonly Place[];
  readonly #world: World;
  readonly #environment: Readonly<Record<string, string>>;
  /** Ends of processes that nobody killed, with the last they said. */
  readonly #crashes: string[] = [];
  #isClosing = false;

  /** @param firstLives more variables for the first process of every place */
  constructor(world: World, programs: readonly Program[], firstLives: Readonly<Record<string, string>> = {}) {
    this.#world = world;
    const folder = dirname(world.mailFolder);
    symlinkSync(dirname(inject('stack').bundlePath), join(folder, 'bundles'));
    this.#environment = {
      ...world.environment,
      // The world's own signing key: its processes and the world itself accept each other's tokens.
      STACK_STATE_DIR: folder,
      NODE_COMPILE_CACHE: join(root, '.local', 'compile-cache'),
      // What a dead process left behind is noticed in a second or two instead of half a minute.
      CORE_JOBQUEUE_QUEUECONF_JOBSTUCKTHRESHOLD: '2000',
      CORE_JOBQUEUE_QUEUECONF_RESCUESTUCKJOBSAFTER: '2000',
      CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: JSON.stringify([{ name: often, workflow: 'sweepOutbox', schedule: 1_000 }]),
    };
    this.places = programs.map((program) => this.#keep(program, firstLives));
  }

  /** Addresses of the APIs that serve now. @throws Error once a process has ended that nobody killed */
  get apiUrls(): string[] {
    this.refuseCrashes();
    return this.places.map(({ current }) => (current.isServing ? current.url : '')).filter((url) => url !== '');
  }

  /** Resolves when every place has a process that serves. */
  async ready(): Promise<void> {
    for (const place of this.places) await eventually(() => place.current.ready.then(() => true), 60_000);
  }

  /** Processes only end when they are killed. */
  refuseCrashes(): void {
    if (this.#crashes.length > 0) throw new Error(this.#crashes.join('\n'));
  }

  /** Ends all of them on the spot. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.places.map(({ current }) => current.kill()));
    await removeSchedules(this.#world.name, this.#world.backbone, ['sweep-outbox', 'prune-records', often]);
  }

  #keep(program: Program, firstLife: Readonly<Record<string, string>>): Place {
    const live = (more: Readonly<Record<string, string>>) =>
      new ServerProcess({ program, environment: { ...this.#environment, ...more } });
    const place = { program, current: live(firstLife), deaths: 0 };
    void (async () => {
      for (;;) {
        const { code, signal } = await place.current.ended;
        if (this.#isClosing) return;
        if (signal !== 'SIGKILL') {
          this.#crashes.push(`${program} ended with ${code ?? signal}:\n${place.current.tail}`);
          return;
        }
        place.deaths++;
        place.current = live({});
      }
    })();
    return place;
  }
}
