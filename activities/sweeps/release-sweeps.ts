import { soleExports, sourceModules, type SourceModule } from '#entities/kit/base/source-modules.ts';
import type { Sweep } from './define-sweep.ts';

/** Every sweep of this release: that of each `activities/sweeps/<area>/<name>.sweep.ts`. */
export const releaseSweeps = sweepsOf(await sourceModules('activities/sweeps', '.sweep.ts'));

/** @throws TypeError when a file exports no sweep, or several */
export function sweepsOf(modules: readonly SourceModule[]): readonly Sweep[] {
  return soleExports(modules, 'sweep', isSweep).map(({ value }) => value);
}

function isSweep(value: unknown): value is Sweep {
  return typeof value === 'object' && value !== null && 'decide' in value && 'act' in value;
}
