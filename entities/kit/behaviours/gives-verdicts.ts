import { AppError } from '../base/errors.ts';
import type { VerdictFields } from '../model/behaviour.ts';
import { databaseRoleOf, type Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import type { ChangeBehaviour } from '../write/change-behaviour.ts';
import type { ChangeWork } from '../write/change-work.ts';
import type { NewRow } from '../write/creations.ts';

/** Behaviour: records are verdicts on stored files, and refer to the records that have these files. */
export function givesVerdicts<const Name extends string>(verdicts: VerdictFields<Name>): ChangeBehaviour<Name> {
  return {
    fields: [verdicts.object, verdicts.verdict],
    verdicts,
    checkNew: (work, caller, rows) => referToFiles(verdicts, work, caller, rows),
  };
}

interface Owner {
  readonly id: string;
  readonly kind: string;
  readonly owner: string;
}

/**
 * Makes new verdicts refer to the records that have their files. A caller who gives a verdict must be able to view such a record, which the
 * check of the reference decides.
 * @throws AppError not_found for an object that no record of the organization has, or one of a kind that takes no verdicts
 */
async function referToFiles(
  { object: held }: VerdictFields,
  work: ChangeWork,
  caller: Caller,
  rows: readonly NewRow[],
): Promise<void> {
  const session = await work.readAs(databaseRoleOf(caller));
  // Nothing is locked: `write_records` finds out when a record has lost its file meanwhile.
  const { rows: found } = await session.query<Owner & Record<string, unknown>>(
    `select id, owner_kind as kind, owner_id as owner from stored_objects
     where id = any($1) and state = 'owned' and organization_id = $2`,
    [rows.map(({ row }) => row[held]), caller.organizationId],
  );
  const owners = new Map(found.map((owner) => [owner.id, owner]));
  for (const { module, row, path } of rows) {
    const object = String(row[held]);
    const owner = owners.get(object);
    const field = owner && referenceTo(module, owner.kind, work.registry);
    if (!owner || field === undefined) {
      const message = `There is no file "${object}" that takes verdicts.`;
      throw new AppError('not_found', message, { details: { fields: [{ path: `${path}/${held}`, message }] } });
    }
    row[field] = owner.owner;
  }
}

/** The field of a kind of verdicts that refers to records of the kind that has the file. */
function referenceTo({ fields }: EntityModule, topic: string, { modules }: Registry): string | undefined {
  const kind = modules.find((module) => module.topic === topic)?.kind;
  return Object.keys(fields).find((name) => kind !== undefined && fields[name]?.target === kind);
}
