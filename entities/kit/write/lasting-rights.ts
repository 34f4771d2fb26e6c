import { AppError } from '../base/errors.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { passingFields } from '../model/policy.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * The error for values with which whoever acts as somebody else would give themselves a right to a record beyond the end of the access: a
 * field for people that names them, and a move of the record below another one, whose rights pass on to it.
 * @param values of a new record, or those that change in a record
 * @param path JSON pointer of the record in the input
 */
export function refusedLastingRight(
  module: EntityModule,
  { delegation }: Caller,
  values: Row,
  operation: 'create' | 'edit',
  path = '',
): AppError | undefined {
  if (delegation === null) return undefined;
  const own = Object.keys(values).find((name) => module.fields[name]?.onLeave && values[name] === delegation.actorId);
  const moved = passingFields(module.policy).find((name) => operation === 'edit' && (values[name] ?? null) !== null);
  const field = own ?? moved;
  if (field === undefined) return undefined;
  const message =
    field === own
      ? 'must not be yourself while you act as somebody else'
      : 'cannot change while you act as somebody else, because the rights to the record above pass on';
  return new AppError('permission_denied', `${path}/${field} ${message}; do it as yourself.`, {
    details: { fields: [{ path: `${path}/${field}`, message }] },
  });
}
