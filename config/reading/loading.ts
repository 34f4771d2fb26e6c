import { leafByPath } from '../objects/leaf.ts';
import { showValue } from '../schema/show-value.ts';
import { ConfigurationError, type Problem } from '../schema/config-problem.ts';
import { invalid, type Setting } from './read-value.ts';

/** One run of the loader: what was set and where, and what is wrong. */
export class Loading {
  readonly problems: Problem[] = [];
  /** By path: leaves that were set, and the places of objects. */
  readonly settings = new Map<string, Setting>();
  readonly #origin: string;

  /** `origin` is where missing fields belong. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  readonly report = (problem: Problem): void => {
    this.problems.push(problem);
  };

  /** Reports about a field at the place that set it or, when it is missing, the object it belongs to. */
  reportField(path: string, reason: string, remedy: string, value?: unknown): void {
    const where = this.#placeOf(path);
    if (this.problems.some((other) => other.where === where && other.path === path && other.remedy === remedy)) return;
    const leaf = leafByPath.get(path);
    const isShown = leaf !== undefined && value !== undefined && value !== '';
    this.report({ where, path, ...(isShown ? { value: showValue(leaf.field, value) } : {}), reason, remedy });
  }

  #placeOf(path: string): string {
    for (let place = path; place !== ''; place = place.slice(0, Math.max(0, place.lastIndexOf('.')))) {
      const where = this.settings.get(place)?.where;
      if (where !== undefined) return where;
    }
    return this.#origin;
  }

  /** Whether what was set at a path is wrong by itself. */
  isInvalid(path: string): boolean {
    return this.settings.get(path)?.value === invalid;
  }

  throwProblems(): void {
    if (this.problems.length > 0) throw new ConfigurationError(this.problems);
  }
}
