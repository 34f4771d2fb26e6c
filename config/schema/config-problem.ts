/** One thing that is wrong with the configuration. Printed on one line; holds no secret. */
export interface Problem {
  /** `file:line`, or the name of an environment variable. */
  readonly where: string;
  /** Path of the field, `''` when the problem is not about one. */
  readonly path: string;
  /** The value as it may be shown, when showing it helps. */
  readonly value?: string;
  /** What is wrong, as a clause. */
  readonly reason: string;
  /** What to do. */
  readonly remedy: string;
}

/** A problem on one line. */
export function printProblem({ where, path, value, reason, remedy }: Problem): string {
  const subject = path + (value === undefined ? '' : `${path === '' ? '' : ' = '}${value}`);
  return `${where}: ${subject === '' ? '' : `${subject}: `}${reason}; ${remedy}`;
}

/** The configuration cannot be used. `message` holds every problem, one per line. */
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
 * For the catch of a main module: prints a configuration error without its stack and leaves with exit code 1. Any
 * other error is thrown again.
 */
export function exitOnConfigurationError(error: unknown): never {
  if (!(error instanceof ConfigurationError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
