/** A mistake in the configuration. It is printed on one line and contains no secret. */
export interface Problem {
  /** `file:line`, or the name of an environment variable. */
  readonly where: string;
  /** Path of the field; `''` when the problem is not about a field. */
  readonly path: string;
  /** The value with secrets masked, when it helps. */
  readonly value?: string;
  /** The problem, as a clause: `is empty`. */
  readonly reason: string;
  /** The remedy. */
  readonly remedy: string;
}

/** Formats a problem as one line. */
export function printProblem({ where, path, value, reason, remedy }: Problem): string {
  const subject = path + (value === undefined ? '' : `${path === '' ? '' : ' = '}${value}`);
  return `${where}: ${subject === '' ? '' : `${subject}: `}${reason}; ${remedy}`;
}

/** Thrown when the configuration cannot be used. `message` lists every problem, one per line. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((problem) => `  ${printProblem(problem)}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * For the catch block of a main module: prints a ConfigurationError without its stack and exits with code 1. Other errors
 * are thrown again.
 */
export function exitOnConfigurationError(error: unknown): never {
  if (!(error instanceof ConfigurationError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
