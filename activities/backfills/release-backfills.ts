import { soleExports, sourceModules, type SourceModule } from '#entities/kit/base/source-modules.ts';
import type { Backfill } from './define-backfill.ts';

/** Every backfill of this release: that of each `activities/backfills/<name>.backfill.ts`. */
export const releaseBackfills = backfillsOf(await sourceModules('activities/backfills', '.backfill.ts'));

/** @throws TypeError when a file exports no backfill, or several, or when two have the same name */
export function backfillsOf(modules: readonly SourceModule[]): readonly Backfill[] {
  const found = soleExports(modules, 'backfill', isBackfill);
  for (const { path, value } of found)
    if (found.some((other) => other.path !== path && other.value.name === value.name))
      throw new TypeError(`${path}: there is another backfill "${value.name}"`);
  return found.map(({ value }) => value);
}

function isBackfill(value: unknown): value is Backfill {
  return typeof value === 'object' && value !== null && 'apply' in value && 'isWanted' in value;
}
