import { soleExports, sourceModules } from './kit/base/source-modules.ts';
import type { DueWork } from './kit/due-work/define-due-work.ts';

/** All due work of this release: each file `<name>-due.ts`. */
export const declaredDueWork: readonly DueWork[] = soleExports(
  await sourceModules('entities', '-due.ts'),
  'due work',
  isDueWork,
).map(({ value }) => value);

function isDueWork(value: unknown): value is DueWork {
  return typeof value === 'object' && value !== null && 'leaseMs' in value;
}
