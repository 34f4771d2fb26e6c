import { found } from '../../base/schema-problem.ts';
import type { FieldProblem } from '../../base/errors.ts';
import { onceForEach } from '../../base/once-for-each.ts';
import type { Field } from '../declared-field.ts';
import type { EntityModule } from '../define.ts';

/** How far the clock of a caller may be ahead, in milliseconds. */
const toleranceMs = 60_000;

/** When the field `of` got the value `is`: a moment that has been, and that a record has only with that value. */
export function moment<F extends Field>(field: F, of: string, is: string): F {
  return { ...field, momentOf: { field: of, is } };
}

/**
 * Problems of the moments that a caller sends.
 * @param sent values of the creation or the change
 * @param whole the record with them, before the kind derives values
 */
export function momentProblems(
  module: EntityModule,
  sent: Readonly<Record<string, unknown>>,
  whole: Readonly<Record<string, unknown>>,
  now: Date,
): FieldProblem[] {
  return momentsOf(module).flatMap(([name, { field, is }]): FieldProblem[] => {
    const value = sent[name];
    if (!(value instanceof Date)) return [];
    const path = `/${name}`;
    if (whole[field] !== is)
      return [
        { path, message: `needs the ${field} ${is}${found(whole[field])}; send the ${field} too, or leave this out` },
      ];
    return value.getTime() > now.getTime() + toleranceMs
      ? [{ path, message: `must not be in the future${found(value.toISOString())}` }]
      : [];
  });
}

const momentsOf = onceForEach(({ fields }: EntityModule) =>
  Object.entries(fields).flatMap(([name, { momentOf }]) => (momentOf ? [[name, momentOf] as const] : [])),
);
