import { isAppError } from '#entities/kit/base/errors.ts';
import { withTimeout } from '#entities/kit/base/with-timeout.ts';

/** Checks a dependency; resolves when it answers. @param deadline end of the check, in milliseconds since the epoch */
export type HealthCheck = (deadline: number) => Promise<unknown>;

export interface HealthReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, { readonly status: 'up' | 'down'; readonly reason?: string }>>;
}

/** Maximum time for an answer, in milliseconds. */
const timeoutMs = 2_000;

const noAnswer = `no answer within ${timeoutMs} ms`;

/** Readiness of each dependency by name. While the process shuts down, it is not ready. */
export class Health {
  readonly #checks: ReadonlyMap<string, HealthCheck>;
  #isStopping = false;

  constructor(checks: Readonly<Record<string, HealthCheck>>) {
    this.#checks = new Map(Object.entries(checks));
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** From now on the process reports that it is not ready. */
  stop(): void {
    this.#isStopping = true;
  }

  async report(): Promise<HealthReport> {
    const deadline = Date.now() + timeoutMs;
    const answers = await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        const answer = check(deadline).then(() => undefined, reasonOf);
        const reason = await withTimeout(answer, timeoutMs, () => noAnswer);
        return [name, reason === undefined ? { status: 'up' as const } : { status: 'down' as const, reason }] as const;
      }),
    );
    const checks = Object.fromEntries(answers);
    return { isReady: !this.#isStopping && answers.every(([, { status }]) => status === 'up'), checks };
  }
}

/** The reason without the address and credentials of the dependency; those are only logged. */
function reasonOf(error: unknown): string {
  if (isAppError(error) && error.code === 'deadline_exceeded') return noAnswer;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' || typeof code === 'number' ? `unreachable (${code})` : 'unreachable';
}
