import type { RecordedChange } from '../model/recorded-changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { Writing } from '../model/hooks.ts';
import { nameForm } from '../base/name-form.ts';
import { problemOf } from '../model/input.ts';
import type { ChangeWork } from './change-work.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Adds the values that the kind derives to those of a change. Values that the caller sent are kept as sent.
 * @param sent all values that the caller sent, including those that the record already has
 * @throws TypeError when the hook returns a value that it may not set
 */
export function withDerivedValues(
  module: EntityModule,
  values: Row,
  sent: Row,
  writing: Writing,
): Record<string, unknown> {
  const derived: Row = { ...module.hooks?.derivedValues?.(values, writing), ...formsOf(module, values) };
  const own = Object.entries(derived).filter(([name]) => !Object.hasOwn(sent, name));
  for (const [name, value] of own) checkDerived(module, name, value);
  return { ...values, ...Object.fromEntries(own) };
}

function formsOf({ fields }: EntityModule, values: Row): Row {
  const forms = Object.entries(fields).flatMap(([name, { formOf }]): [string, string][] => {
    const value = formOf === undefined ? undefined : values[formOf];
    return typeof value === 'string' ? [[name, nameForm(value)]] : [];
  });
  return Object.fromEntries(forms);
}

/** Hooks cannot set references, because those are checked before a hook runs. */
function checkDerived({ kind, fields }: EntityModule, name: string, value: unknown): void {
  const field = fields[name];
  const problem =
    !field || field.type === 'reference'
      ? 'a hook cannot set'
      : value === null && field.optional
        ? undefined
        : problemOf(field, value)?.message;
  if (problem) throw new TypeError(`entity "${kind}": derivedValues returns "${name}", which ${problem}`);
}

export function scheduleAfterCommitHooks(work: ChangeWork, changes: readonly RecordedChange[]): void {
  for (const [module, own] of Map.groupBy(changes, (change) => change.module)) {
    const { hooks } = module;
    if (hooks?.afterCommit) work.afterCommit(() => hooks.afterCommit?.(own));
  }
}
