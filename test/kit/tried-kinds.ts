import { inject } from 'vitest';
import type { EntityModule } from '#entities/kit/model/define.ts';

/** The kinds of which tests over all kinds make cases: all, or those that `TEST_KINDS` names (`TEST_KINDS=task,note`). */
export function triedKinds(modules: readonly EntityModule[]): readonly EntityModule[] {
  const names = inject('kinds');
  const unknown = names.filter((name) => !modules.some(({ kind }) => kind === name));
  if (unknown.length > 0)
    throw new Error(
      `TEST_KINDS has ${unknown.join()}: name kinds, such as ${modules[0]?.kind}, with commas between them`,
    );
  return names.length === 0 ? modules : modules.filter(({ kind }) => names.includes(kind));
}
