import type { RecordedChange } from './changes.ts';
import type { EntityModule } from './define.ts';
import type { FieldValues, Fields } from './fields.ts';
import { problemOf } from './input.ts';
import type { UnitOfWork } from '../unit/unit-of-work.ts';

type Row = Readonly<Record<string, unknown>>;

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
   * @param values all of a new record, with defaults, and null where nothing is; or those in which a record changes
   */
  derivedValues?(values: Partial<FieldValues<F>>, writing: Writing): Partial<FieldValues<F>>;
  /**
   * After the commit, in the process that made it, best effort: for caches. A failure is logged and nothing else, and a process
   * that dies forgets it; what must not be lost is an event.
   * @param changes of records of the kind, in their order
   */
  afterCommit?(changes: readonly RecordedChange[]): void | Promise<void>;
}

/**
 * Values with what the kind writes along with them; what the caller said itself stays as it was said.
 * @param sent all that the caller said, also what is there already
 * @throws TypeError when the hook gives what it may not
 */
export function withDerivedValues(
  module: EntityModule,
  values: Row,
  sent: Row,
  writing: Writing,
): Record<string, unknown> {
  const along: Row = module.hooks?.derivedValues?.(values, writing) ?? {};
  const own = Object.entries(along).filter(([name]) => !Object.hasOwn(sent, name));
  for (const [name, value] of own) refuseUnfit(module, name, value);
  return { ...values, ...Object.fromEntries(own) };
}

/** References and places in hierarchies are checked before a hook is asked, so they are not for hooks. */
function refuseUnfit({ kind, fields }: EntityModule, name: string, value: unknown): void {
  const field = fields[name];
  const problem =
    !field || field.type === 'reference'
      ? 'is not for hooks'
      : value === null && field.optional
        ? undefined
        : problemOf(field, value)?.message;
  if (problem) throw new TypeError(`entity "${kind}": derivedValues gives "${name}", which ${problem}`);
}

/** Lets the kinds of these changes know of them when they are committed. */
export function tellAfterCommit(unit: UnitOfWork, changes: readonly RecordedChange[]): void {
  for (const [module, own] of Map.groupBy(changes, (change) => change.module)) {
    const { hooks } = module;
    if (hooks?.afterCommit) unit.afterCommit(() => hooks.afterCommit?.(own));
  }
}
