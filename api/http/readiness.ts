import { isAppError } from '#entities/kit/base/errors.ts';

/** Asks a part the server depends on; resolves when it answers. @param deadline when nobody waits any more, in milliseconds of the epoch */
export type HealthCheck = (deadline: number) => Promise<unknown>;

export interface HealthReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, { readonly status: 'up' | 'down'; readonly reason?: string }>>;
}

/** Longest a part may take to answer, in milliseconds. */
const patienceMs = 2_000;

const noAnswer = `no answer within ${patienceMs} ms`;

/** Readiness of each part by name; while shutting down nothing is ready. */
export class Health {
  readonly #checks: ReadonlyMap<string, HealthCheck>;
  #isStopping = false;

  constructor(checks: Readonly<Record<string, HealthCheck>>) {
    this.#checks = new Map(Object.entries(checks));
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** From now on the process asks for no more traffic. */
  stop(): void {
    this.#isStopping = true;
  }

  async report(): Promise<HealthReport> {
    const deadline = Date.now() + patienceMs;
    const late = timedOut(AbortSignal.timeout(patienceMs));
    const answers = await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        const reason = await Promise.race([check(deadline).then(() => undefined, reasonOf), late]);
        return [name, reason === undefined ? { status: 'up' as const } : { status: 'down' as const, reason }] as const;
      }),
    );
    const checks = Object.fromEntries(answers);
    return { isReady: !this.#isStopping && answers.every(([, { status }]) => status === 'up'), checks };
  }
}

function timedOut(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(noAnswer), { once: true });
  });
}

/** The first line of what went wrong; addresses and credentials of the part stay in the logs. */
function reasonOf(error: unknown): string {
  if (isAppError(error) && error.code === 'deadline_exceeded') return noAnswer;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' || typeof code === 'number' ? `unreachable (${code})` : 'unreachable';
}
