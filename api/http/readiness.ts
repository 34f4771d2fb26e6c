import { isAppError } from '#entities/kit/base/errors.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';

/** Result of a check of something that answers. */
interface Found {
  /** Why it cannot be used nevertheless, as the end of a sentence. */
  readonly problem?: string | undefined;
  /** Until when it can be used. */
  readonly expiresAt?: Date;
}

/** Checks a dependency; resolves when it answers, if need be with what was found (`Found`). @param deadline end of the check, in milliseconds since the epoch */
type HealthCheck = (deadline: number) => Promise<unknown>;

/** Result of a check. */
interface CheckReport {
  readonly status: 'up' | 'degraded' | 'down';
  readonly reason?: string;
  /** Time until the answer, or until none was awaited any more. */
  readonly latencyMs: number;
  /** When this process first found the dependency in this status. */
  readonly since: Date;
  readonly expiresAt?: Date;
}

interface HealthReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, CheckReport>>;
}

/** Maximum time for an answer, in milliseconds. */
const timeoutMs = 2_000;

const noAnswer = `no answer within ${timeoutMs} ms`;

/** Readiness of each dependency by name. While the process shuts down, it is not ready. */
export class Health {
  readonly #checks: ReadonlyMap<string, HealthCheck>;
  readonly #optional: () => Readonly<Record<string, HealthCheck>>;
  #isStopping = false;
  /** The status of each dependency, as it was last found. */
  readonly #known = new Map<string, Pick<CheckReport, 'status' | 'since'>>();

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
      const startedAt = performance.now();
      const answer = check(deadline).then(findingsIn, (error: unknown): Found => ({ problem: reasonOf(error) }));
      const { problem: reason, expiresAt } = await withTimeout(answer, timeoutMs, (): Found => ({ problem: noAnswer }));
      const latencyMs = Math.round((performance.now() - startedAt) * 10) / 10;
      const status = reason === undefined ? ('up' as const) : failed;
      const since = this.#since(name, status);
      return [
        name,
        { status, ...(reason === undefined ? {} : { reason }), latencyMs, since, ...(expiresAt ? { expiresAt } : {}) },
      ] as const;
    };
    const answers = await Promise.all([
      ...[...this.#checks].map(([name, check]) => ask(name, check, 'down')),
      ...Object.entries(this.#optional()).map(([name, check]) => ask(name, check, 'degraded')),
    ]);
    const checks = Object.fromEntries(answers);
    return { isReady: !this.#isStopping && answers.every(([, { status }]) => status !== 'down'), checks };
  }

  #since(name: string, status: CheckReport['status']): Date {
    const known = this.#known.get(name);
    if (known?.status === status) return known.since;
    const since = new Date();
    this.#known.set(name, { status, since });
    return since;
  }
}

function findingsIn(answer: unknown): Found {
  const { problem, expiresAt } = (answer ?? {}) as Found;
  return { problem, ...(expiresAt instanceof Date ? { expiresAt } : {}) };
}

/** The reason without the address and credentials of the dependency; those are only logged. */
function reasonOf(error: unknown): string {
  if (isAppError(error) && error.code === 'deadline_exceeded') return noAnswer;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' || typeof code === 'number' ? `unreachable (${code})` : 'unreachable';
}
