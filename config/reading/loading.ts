import { leafByPath } from '../objects/leaf.ts';
import { showValue } from '../schema/show-value.ts';
import { ConfigurationError, type Problem } from '../schema/config-problem.ts';
import { invalid, type Setting } from './read-value.ts';

/** State of one load: which fields were set where, and which problems were found. */
export class Loading {
  readonly problems: Problem[] = [];
  /** By path: the leaves that were set, and the origins of objects. */
  readonly settings = new Map<string, Setting>();
  readonly #origin: string;

  /** `origin` is reported for fields whose object was not set anywhere either. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  readonly report = (problem: Problem): void => {
    this.problems.push(problem);
  };

  /** Reports a problem with the origin of the field or, when the field is not set, of the nearest object above it. */
  reportField(path: string, reason: string, remedy: string, value?: unknown): void {
    const where = this.#originOf(path);
    if (this.problems.some((other) => other.where === where && other.path === path && other.remedy === remedy)) return;
    const leaf = leafByPath.get(path);
    const isShown = leaf !== undefined && value !== undefined && value !== '';
    this.report({ where, path, ...(isShown ? { value: showValue(leaf.field, value) } : {}), reason, remedy });
  }

  #originOf(path: string): string {
    for (let current = path; current !== ''; current = current.slice(0, Math.max(0, current.lastIndexOf('.')))) {
      const where = this.settings.get(current)?.where;
      if (where !== undefined) return where;
    }
    return this.#origin;
  }

  /** Whether the value set at a path was rejected. */
  isInvalid(path: string): boolean {
    return this.settings.get(path)?.value === invalid;
  }

  throwProblems(): void {
    if (this.problems.length > 0) throw new ConfigurationError(this.problems);
  }
}
