import { organizationOf } from '../model/changes.ts';
import type { NewRow } from './creations.ts';
import { AppError } from '../base/errors.ts';
import { maxHierarchyDepth as deepest } from '../model/hierarchy.ts';
import { rowPath } from '../base/row-path.ts';
import { isHierarchical, referencesIn, tooDeep, type GivenReference } from './references.ts';

/**
 * The references of rows that are made together to records that are there already. Those to each other need no look: the rows
 * belong to whoever makes them, and nobody else knows of them.
 * @param rows each after the one it hangs on
 * @throws AppError invalid_input when they would make too deep a hierarchy by themselves
 */
export function newReferences(rows: readonly NewRow[]): GivenReference[] {
  const made = new Set(rows.map(({ row }) => row['id']));
  const levels = levelsBelow(rows);
  return rows.flatMap(({ module, row, path }) =>
    referencesIn(module, row, { organizationId: organizationOf(module, row), path })
      .filter(({ id }) => !made.has(id))
      .map((reference) => ({ ...reference, levels: levels.get(placeOf(row['id'], reference.field)) ?? 1 })),
  );
}

/** Levels of new rows of a hierarchy, from each that hangs on none of them down to the last. */
function levelsBelow(rows: readonly NewRow[]): Map<string, number> {
  const levels = new Map<string, number>();
  const standing = new Map<string, { readonly top: string; readonly level: number }>();
  for (const { module, row, path } of rows) {
    for (const field of Object.keys(module.fields).filter((name) => isHierarchical(module, name))) {
      const own = placeOf(row['id'], field);
      const above = standing.get(placeOf(row[field], field)) ?? { top: own, level: 0 };
      const level = above.level + 1;
      if (level > deepest) refuseDepth(tooDeep(module), path);
      standing.set(own, { top: above.top, level });
      levels.set(above.top, Math.max(levels.get(above.top) ?? 1, level));
    }
  }
  return levels;
}

function placeOf(id: unknown, field: string): string {
  return `${field} ${String(id)}`;
}

function refuseDepth(message: string, path: string): never {
  throw new AppError('invalid_input', `${rowPath(path)}${message}`, { details: { fields: [{ path, message }] } });
}
