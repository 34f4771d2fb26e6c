import { organizationOf } from '../model/recorded-changes.ts';
import type { NewRow } from './creations.ts';
import { AppError } from '../base/errors.ts';
import { maxHierarchyDepth } from '../model/hierarchy.ts';
import { rowPath } from '../base/row-path.ts';
import { isHierarchical, referencesIn, tooDeep, type GivenReference } from './references.ts';

/**
 * The references of new rows to existing records. References between the new rows need no check: the caller creates both.
 * @param rows parents before children
 * @throws AppError invalid_input when the new rows alone would be too deep a hierarchy
 */
export function newReferences(rows: readonly NewRow[]): GivenReference[] {
  const made = new Set(rows.map(({ row }) => row['id']));
  const levels = levelsBelow(rows);
  return rows.flatMap(({ module, row, path }) =>
    referencesIn(module, row, { organizationId: organizationOf(module, row), path })
      .filter(({ id }) => !made.has(id))
      .map((reference) => ({ ...reference, levels: levels.get(nodeKey(row['id'], reference.field)) ?? 1 })),
  );
}

/** The number of levels of new rows below and including each new row whose parent is not new. */
function levelsBelow(rows: readonly NewRow[]): Map<string, number> {
  const levels = new Map<string, number>();
  const positions = new Map<string, { readonly top: string; readonly level: number }>();
  for (const { module, row, path } of rows) {
    for (const field of Object.keys(module.fields).filter((name) => isHierarchical(module, name))) {
      const own = nodeKey(row['id'], field);
      const above = positions.get(nodeKey(row[field], field)) ?? { top: own, level: 0 };
      const level = above.level + 1;
      if (level > maxHierarchyDepth) refuseDepth(tooDeep(module), path);
      positions.set(own, { top: above.top, level });
      levels.set(above.top, Math.max(levels.get(above.top) ?? 1, level));
    }
  }
  return levels;
}

function nodeKey(id: unknown, field: string): string {
  return `${field} ${String(id)}`;
}

function refuseDepth(message: string, path: string): never {
  throw new AppError('invalid_input', `${rowPath(path)}${message}`, { details: { fields: [{ path, message }] } });
}
