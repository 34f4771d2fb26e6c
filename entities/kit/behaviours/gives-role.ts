import { AppError } from '../base/errors.ts';
import { mayGiveRole, type Caller, type Role } from '../model/caller.ts';
import type { ChangeBehaviour } from '../write/change-behaviour.ts';

type Row = Readonly<Record<string, unknown>>;

/** A field with a role of the organization, which the record gives to somebody. */
interface RoleGiving<Name extends string> {
  readonly field: Name;
  /** The person who has the role; they may give it up themselves. */
  readonly holder?: Name;
}

/** Behaviour: nobody gives a role above their own, or changes or deletes a record that gives one. */
export function givesRole<const Name extends string>(giving: RoleGiving<Name>): ChangeBehaviour<Name> {
  return {
    fields: giving.holder === undefined ? [giving.field] : [giving.field, giving.holder],
    rules: [`Nobody gives a ${giving.field} above their own, or changes or deletes a record that has one.`],
    checkNew: (_work, caller, rows) => {
      for (const { module, row } of rows.filter(({ isGranted }) => !isGranted)) {
        const refusal = refusedRole(giving, module.typeName, caller, [row]);
        if (refusal) throw refusal;
      }
    },
    check: ({ module, caller, operation, row, values }) =>
      refusedRole(giving, module.typeName, caller, [row, { ...row, ...values }], operation === 'remove'),
  };
}

/**
 * The error for a record that gives a role above the caller's own: one that is created, changed or deleted, or the values
 * of its change. The rules of the kind decide who may change its records at all.
 * Tokens change no owners: that needs a proof of who somebody is, which no token gives.
 * @param isRemoval people may always give up a role that they have themselves, in whichever organization they act
 */
function refusedRole(
  { field, holder }: RoleGiving<string>,
  typeName: string,
  caller: Caller,
  rows: readonly Row[],
  isRemoval = false,
): AppError | undefined {
  if (caller.kind === 'system') return undefined;
  const given = rows.flatMap((row) => (row[field] === undefined ? [] : [row[field] as Role]));
  if (caller.limits !== null && given.includes('owner'))
    return new AppError(
      'permission_denied',
      `Tokens give the role owner to nobody and take it from nobody; owners do so, signed in.`,
    );
  if (isRemoval && holder !== undefined && rows.every((row) => row[holder] === caller.subjectId)) return undefined;
  const above = given.find((role) => !mayGiveRole(caller.role, role));
  if (above === undefined) return undefined;
  const own = caller.role === null ? 'An API token has no role' : `Your role is ${caller.role}`;
  return new AppError(
    'permission_denied',
    `${own}, so you may not give or change the role ${above} of this ${typeName}. Ask somebody who has that role.`,
  );
}
