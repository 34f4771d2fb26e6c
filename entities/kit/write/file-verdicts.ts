import { AppError } from '../base/errors.ts';
import type { EntityModule } from '../model/define.ts';
import { soleOrganizationOf, type RecordedChange } from '../model/recorded-changes.ts';
import { databaseRoleOf, type Caller } from '../model/caller.ts';
import type { Registry } from '../model/registry.ts';
import type { ChangeWork } from './change-work.ts';
import type { NewRow } from './creations.ts';

/** A verdict on an object. */
export interface VerdictRow {
  readonly id: string;
  readonly object: string;
  readonly organization: string | null;
  readonly verdict: string;
  /** Creation of the verdict. */
  readonly at: unknown;
}

interface Owner {
  readonly id: string;
  readonly kind: string;
  readonly owner: string;
}

/**
 * Makes new verdicts refer to the records that have their files. A caller who gives a verdict must be able to view such a record, which the
 * check of the reference decides. Without verdicts nothing is sent.
 * @throws AppError not_found for an object that no record of the organization has, or one of a kind that takes no verdicts
 */
export async function referToFiles(work: ChangeWork, caller: Caller, rows: readonly NewRow[]): Promise<void> {
  const verdicts = rows.flatMap(({ module, row, path }) => {
    const { object } = module.verdictOn ?? {};
    return object === undefined ? [] : [{ module, row, object: String(row[object]), path: `${path}/${object}` }];
  });
  if (verdicts.length === 0) return;
  const session = await work.readAs(databaseRoleOf(caller));
  // Nothing is locked: `write_records` finds out when a record has lost its file meanwhile.
  const { rows: found } = await session.query<Owner & Record<string, unknown>>(
    `select id, owner_kind as kind, owner_id as owner from stored_objects
     where id = any($1) and state = 'owned' and organization_id = $2`,
    [verdicts.map(({ object }) => object), caller.organizationId],
  );
  const owners = new Map(found.map((owner) => [owner.id, owner]));
  for (const { module, row, object, path } of verdicts) {
    const owner = owners.get(object);
    const field = owner && referenceTo(module, owner.kind, work.registry);
    if (!owner || field === undefined) {
      const message = `There is no file "${object}" that takes verdicts.`;
      throw new AppError('not_found', message, { details: { fields: [{ path, message }] } });
    }
    row[field] = owner.owner;
  }
}

/** The field of a kind of verdicts that refers to records of the kind that has the file. */
function referenceTo({ fields }: EntityModule, topic: string, { modules }: Registry): string | undefined {
  const kind = modules.find((module) => module.topic === topic)?.kind;
  return Object.keys(fields).find((name) => kind !== undefined && fields[name]?.target === kind);
}

/** The verdicts that changes make. */
export function verdictRows(changes: readonly RecordedChange[]): VerdictRow[] {
  return changes.flatMap(({ module, operation, id, after, organizationId }) => {
    const { verdictOn } = module;
    if (!verdictOn || operation !== 'created') return [];
    const { object, verdict } = verdictOn;
    return [
      {
        id,
        object: String(after[object]),
        organization: soleOrganizationOf(module, organizationId),
        verdict: String(after[verdict]),
        at: after['createdAt'],
      },
    ];
  });
}
