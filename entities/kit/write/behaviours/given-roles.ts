import { AppError } from '../../base/errors.ts';
import { mayGiveRole, type Caller, type Role } from '../../model/caller.ts';
import type { EntityModule } from '../../model/define.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * The error for a record that gives a role above the caller's own (`givesRole`): one that is created, changed or deleted, or the values
 * of its change. The rules of the kind decide who may change its records at all.
 * Tokens change no owners: that needs a proof of who somebody is, which no token gives.
 * @param isRemoval people may always give up a role that they have themselves, in whichever organization they act
 */
export function refusedRole(
  { givesRole, typeName }: EntityModule,
  caller: Caller,
  rows: readonly Row[],
  isRemoval = false,
): AppError | undefined {
  if (!givesRole || caller.kind === 'system') return undefined;
  const { field, holder } = givesRole;
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
