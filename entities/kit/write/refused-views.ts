import { maxProblems, type AppError, type FieldProblem } from '../base/errors.ts';
import { inputError } from '../base/input-error.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { readView } from '../read/stored-view.ts';

/** Why a record that is a view of a list (`storesView`) cannot have these values; undefined for other kinds. */
export function refusedView(
  registry: Registry,
  module: EntityModule,
  row: Readonly<Record<string, unknown>>,
  path = '',
): AppError | undefined {
  if (!module.storesView) return undefined;
  const problems = readView(registry, module.storesView, row).problems.map((problem): FieldProblem => ({
    ...problem,
    path: `${path}${problem.path}`,
  }));
  return problems.length === 0 ? undefined : inputError(problems.slice(0, maxProblems));
}
