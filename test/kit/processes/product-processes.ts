import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { inject } from 'vitest';
import { eventually } from '../eventually.ts';
import { ProductProcess, type ServerProcessOptions } from './spawned-process.ts';
import { releaseSchedules, removeSchedules, type World } from '../world.ts';

/** Schedule that sweeps every second. */
const often = 'sweep-often';

export type Program = ServerProcessOptions['program'];

/** Variables that are there in one life of a process only. */
export type Life = Readonly<Record<string, string>>;

/** One process of several lives: when it is killed, the next one starts at once. */
export class Place {
  readonly program: Program;
  /** How many lives are unlike the later ones. */
  readonly firstLives: number;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #lives: Life[];
  /** How a process ended that nobody killed, with the last it said. */
  #crash: string | undefined;
  #isClosed = false;
  #deaths = 0;
  #current: ProductProcess;

  /** @param lives what the first lives are like; later ones are plain */
  constructor(program: Program, environment: Readonly<Record<string, string>>, lives: readonly Life[]) {
    this.program = program;
    this.#environment = environment;
    this.#lives = [...lives];
    this.firstLives = lives.length;
    this.#current = this.#start();
    void this.#keep();
  }

  /** Lives that were ended by SIGKILL. */
  get deaths(): number {
    return this.#deaths;
  }

  get current(): ProductProcess {
    return this.#current;
  }

  /**
   * Waits until all first lives have ended. Each has its own time, to start and then to reach its end: how many there are depends on the
   * depth of the run.
   */
  async untilFirstLivesEnded(): Promise<void> {
    for (let ended = 1; ended <= this.firstLives; ended++) {
      const hasEnded = () => this.#deaths >= ended;
      await eventually(() => hasEnded() || this.current.isServing);
      await eventually(hasEnded);
    }
  }

  /** Processes only end when they are killed. */
  refuseCrash(): void {
    if (this.#crash !== undefined) throw new Error(this.#crash);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#current.kill();
  }

  #start(): ProductProcess {
    return new ProductProcess({ program: this.program, environment: { ...this.#environment, ...this.#lives.shift() } });
  }

  async #keep(): Promise<void> {
    for (;;) {
      const { code, signal } = await this.#current.ended;
      if (this.#isClosed) return;
      if (signal !== 'SIGKILL') {
        this.#crash = `${this.program} ended with ${code ?? signal}:\n${this.#current.tail}`;
        return;
      }
      this.#deaths++;
      this.#current = this.#start();
    }
  }
}

/** A world's product as it runs in production: API and worker processes that are killed and started again. */
export class ProductProcesses {
  readonly places: readonly Place[];
  readonly #world: World;

  private constructor(
    world: World,
    programs: readonly Program[],
    lives: Readonly<Partial<Record<Program, readonly Life[]>>> = {},
  ) {
    this.#world = world;
    const environment = environmentOf(world);
    this.places = programs.map((program, index) => {
      const ofProgram = programs.flatMap((other, place) => (other === program ? [place] : []));
      const own = (lives[program] ?? []).filter((_life, number) => ofProgram[number % ofProgram.length] === index);
      return new Place(program, environment, own);
    });
  }

  /** @param lives what the first lives of a program's processes are like; places of the same program share them out */
  static async start(
    world: World,
    programs: readonly Program[],
    lives: Readonly<Partial<Record<Program, readonly Life[]>>> = {},
  ): Promise<ProductProcesses> {
    const bundles = join(dirname(world.mailFolder), 'bundles');
    if (!existsSync(bundles)) symlinkSync(dirname(inject('stack').bundlePath), bundles);
    await Promise.all([...new Set(programs)].map((program) => compileOnce(program, environmentOf(world))));
    return new ProductProcesses(world, programs, lives);
  }

  /** Addresses of the APIs that serve now. @throws Error once a process has ended that nobody killed */
  get apiUrls(): string[] {
    this.refuseCrashes();
    return this.places.map(({ current }) => (current.isServing ? current.url : '')).filter((url) => url !== '');
  }

  refuseCrashes(): void {
    for (const place of this.places) place.refuseCrash();
  }

  /** Ends all of them on the spot. */
  async close(): Promise<void> {
    await Promise.all(this.places.map((place) => place.close()));
    await removeSchedules(this.#world.name, this.#world.runtime, [...releaseSchedules, often]);
  }
}

/** Node writes what it has compiled when a process ends in order, which those that are killed never do: one of each run does. */
async function compileOnce(program: Program, environment: Readonly<Record<string, string>>): Promise<void> {
  const done = join(inject('stack').folder, `compiled-${basename(program)}`);
  if (existsSync(done)) return;
  writeFileSync(done, '');
  const process = new ProductProcess({ program, environment });
  await process.ready;
  await process.stop();
}

function environmentOf(world: World): Readonly<Record<string, string>> {
  return {
    ...world.environment,
    // The world's own signing key: its processes and the world itself accept each other's tokens.
    STACK_STATE_DIR: dirname(world.mailFolder),
    // Work that a dead process left behind is noticed within two seconds instead of half a minute.
    CORE_JOBQUEUE_QUEUECONF_JOBSTUCKTHRESHOLD: '2000',
    CORE_JOBQUEUE_QUEUECONF_RESCUESTUCKJOBSAFTER: '2000',
    CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: JSON.stringify([{ name: often, workflow: 'sweepOutbox', schedule: 1_000 }]),
  };
}
