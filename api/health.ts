/** Name of a part the server depends on → asks it; resolves when it answers. */
export type HealthCheck = (signal: AbortSignal) => Promise<unknown>;

export interface HealthReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, { readonly status: 'up' | 'down'; readonly reason?: string }>>;
}

/** Longest a part may take to answer, in milliseconds. */
const patienceMs = 2_000;

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
    const signal = AbortSignal.timeout(patienceMs);
    const answers = await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        const reason = await Promise.race([check(signal).then(() => undefined, reasonOf), timedOut(signal)]);
        return [name, reason === undefined ? { status: 'up' as const } : { status: 'down' as const, reason }] as const;
      }),
    );
    const checks = Object.fromEntries(answers);
    return { isReady: !this.#isStopping && answers.every(([, { status }]) => status === 'up'), checks };
  }
}

function timedOut(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(`no answer within ${patienceMs} ms`), { once: true });
  });
}

/** The first line of what went wrong; addresses and credentials of the part stay in the logs. */
function reasonOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' || typeof code === 'number' ? `unreachable (${code})` : 'unreachable';
}
