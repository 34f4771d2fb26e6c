import { firstIdAt } from '../base/ids.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { EntityModule } from '../model/define.ts';
import type { Work } from '../storage/work.ts';

/** Records of a kind that are removed when they are old. */
export interface PrunedRecords {
  readonly module: EntityModule;
  /** Age from which they are removed, in milliseconds. */
  readonly keptMs: number;
  /** Only those with one of these values of a field; all when left out. */
  readonly only?: { readonly field: string; readonly among: readonly string[] };
  /** Only those with a value of this field. */
  readonly having?: string;
}

const maxPruned = 1_000;

/**
 * Removes some of these records with their history: unlike deleted ones, nothing is left of them. The function of the database accepts
 * only the kinds that nobody has to find again (`prune_records`).
 * @returns whether there may be more
 */
export async function pruneRecords(
  work: Work,
  { module, keptMs, only, having }: PrunedRecords,
  at: Date,
): Promise<boolean> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  // Ids begin with their time, so the primary key finds the oldest.
  const conditions = [`r.id < ${bind(firstIdAt(new Date(at.getTime() - keptMs)))}`];
  if (only) conditions.push(`r.${snakeCase(only.field)} = any(${bind(only.among)})`);
  if (having !== undefined) conditions.push(`r.${snakeCase(having)} is not null`);
  const rows = await work.rowsAsSystem<{ count: number }>(
    `select prune_records(${bind(module.topic)}, ${bind(module.table)}, array(
       select r.id from ${module.table} r where ${conditions.join(' and ')} order by r.id limit ${maxPruned} for update skip locked)) as count`,
    values,
  );
  return rows[0]?.count === maxPruned;
}
