import type { CheckedValues } from '../access/value-checks.ts';
import type { AppError, ErrorCode } from '../base/errors.ts';
import type { ChangeBehaviour } from '../write/change-behaviour.ts';
import type { ChangeWork } from '../write/change-work.ts';

interface CheckedFields<Name extends string> {
  /** Name of the check in `DatabaseOptions.valueChecks`. */
  readonly check: string;
  /** Code of its refusals. */
  readonly code: ErrorCode;
  /** A change of one of them is checked. */
  readonly fields: readonly Name[];
}

/** Behaviour: values of records are checked by a part of the process outside the data layer. Records that the server adds to others are not. */
export function checkedBy<const Name extends string>({
  check,
  code,
  fields,
}: CheckedFields<Name>): ChangeBehaviour<Name> {
  return {
    fields,
    checkErrors: [code],
    checkNew: async (work, caller, rows) => {
      for (const { row, path, isGranted } of rows) {
        const refused = isGranted ? undefined : await refusal(work, check, { caller, row, path });
        if (refused) throw refused;
      }
    },
    check: ({ work, operation, caller, row, changed }) =>
      operation === 'edit' && fields.some((name) => Object.hasOwn(changed, name))
        ? refusal(work, check, { caller, row: { ...row, ...changed }, path: '' })
        : undefined,
  };
}

async function refusal(work: ChangeWork, name: string, values: CheckedValues): Promise<AppError | undefined> {
  const check = work.options.valueChecks?.[name];
  if (!check) throw new TypeError(`the database was opened without the check of values "${name}"`);
  return check(work, values);
}
