import { isAppError } from '#entities/kit/base/errors.ts';
import { withTimeout } from '#entities/kit/base/with-timeout.ts';

/** Checks a dependency; resolves when it answers. @param deadline end of the check, in milliseconds since the epoch */
export type HealthCheck = (deadline: number) => Promise<unknown>;

export interface HealthReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, { readonly status: 'up' | 'degraded' | 'down'; readonly reason?: string }>>;
}

/** Maximum time for an answer, in milliseconds. */
const timeoutMs = 2_000;

const noAnswer = `no answer within ${timeoutMs} ms`;

/** Readiness of each dependency by name. While the process shuts down, it is not ready. */
export class Health {
  readonly #checks: ReadonlyMap<string, HealthCheck>;
  readonly #optional: () => Readonly<Record<string, HealthCheck>>;
  #isStopping = false;

  /** @param optional dependencies without which the process is ready, as they are now */
  constructor(
    checks: Readonly<Record<string, HealthCheck>>,
    optional: () => Readonly<Record<string, HealthCheck>> = () => ({}),
  ) {
    this.#checks = new Map(Object.entries(checks));
    this.#optional = optional;
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
    const ask = async (name: string, check: HealthCheck, failed: 'degraded' | 'down') => {
      const answer = check(deadline).then(() => undefined, reasonOf);
      const reason = await withTimeout(answer, timeoutMs, () => noAnswer);
      return [name, reason === undefined ? { status: 'up' as const } : { status: failed, reason }] as const;
    };
    const answers = await Promise.all([
      ...[...this.#checks].map(([name, check]) => ask(name, check, 'down')),
      ...Object.entries(this.#optional()).map(([name, check]) => ask(name, check, 'degraded')),
    ]);
    const checks = Object.fromEntries(answers);
    return { isReady: !this.#isStopping && answers.every(([, { status }]) => status !== 'down'), checks };
  }
}

/** The reason without the address and credentials of the dependency; those are only logged. */
function reasonOf(error: unknown): string {
  if (isAppError(error) && error.code === 'deadline_exceeded') return noAnswer;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' || typeof code === 'number' ? `unreachable (${code})` : 'unreachable';
}
