import type { RecordedChange } from './changes.ts';
import type { EntityModule } from './define.ts';
import type { FieldValues, Fields } from './fields.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** When values are written, and whether the record is there already. */
export interface Writing {
  readonly operation: 'create' | 'update';
  readonly at: Date;
}

/**
 * What a kind does besides what its declaration says. Rules are none of it: they are for the policy, which the authorization
 * store and explanations know.
 */
export interface EntityHooks<F extends Fields> {
  /**
   * Values that are written along with others, in the same change. Pure, and without a look at the record: many may be changed
   * alike.
   * @param values all of a new record, or those in which a record changes
   */
  alongside?(values: Partial<FieldValues<F>>, writing: Writing): Partial<FieldValues<F>>;
  /**
   * After the commit, in the process that made it, best effort: for caches. A failure is logged and nothing else, and a process
   * that dies forgets it; what must not be lost is an event.
   * @param changes of records of the kind, in their order
   */
  afterCommit?(changes: readonly RecordedChange[]): void | Promise<void>;
}

/** Values with what the kind writes along with them. */
export function withAlongside(
  { hooks }: EntityModule,
  values: Readonly<Record<string, unknown>>,
  writing: Writing,
): Record<string, unknown> {
  return { ...values, ...hooks?.alongside?.(values, writing) };
}

/** Lets the kinds of these changes know of them when they are committed. */
export function tellAfterCommit(unit: UnitOfWork, changes: readonly RecordedChange[]): void {
  for (const [module, own] of Map.groupBy(changes, (change) => change.module)) {
    const { hooks } = module;
    if (hooks?.afterCommit) unit.afterCommit(() => hooks.afterCommit?.(own));
  }
}
