import { automatedKinds, edgesOf } from '../document/automated-kinds.ts';
import type { ChangeFacts } from '../document/expression-values.ts';
import { rowOfRecord } from '../../kit/unit/record-rows.ts';
import { recordVersions } from '../record-version-rows.ts';
import { personIn } from '../../kit/model/caller.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import type { EventRow } from '../../kit/outbox/outbox.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';

/** A change of a record that workflows can follow. */
export interface ReportedChange {
  readonly module: EntityModule;
  readonly recordId: string;
  /** Version of the record after the change. */
  readonly recordVersion: number;
  readonly change: ChangeFacts;
}

type Row = Readonly<Record<string, unknown>>;

/** A version of a record, as an event or an entry of its history reports it. */
interface ReportedVersion {
  readonly recordId: string;
  readonly recordVersion: number;
  readonly organizationId: string | null;
  readonly verb: Verb;
  readonly changedFields: readonly string[];
  readonly actor: string;
  readonly at: Date;
  /** Current values; of a deleted record, the last ones. */
  readonly row: Row | undefined;
  /** Values of the version and of the one before it, as far as the history has them. */
  readonly after?: Row | undefined;
  readonly before?: Row | null | undefined;
}

type Verb = keyof typeof operations;

const operations = { created: 'create', updated: 'update', deleted: 'delete' } as const;

/**
 * The changes that an event reports: that of its record, or of the links of the records that a new or ended link joins. Values are those of
 * the version of the event, also if the record has changed since; without a history (`db.enablehistory`) they are the current ones, and of a
 * deleted record the last ones.
 */
export async function changesOfEvent(unit: UnitOfWork, event: EventRow): Promise<readonly ReportedChange[]> {
  const kinds = automatedKinds(unit.registry);
  const own = kinds.find(({ topic }) => topic === event.entityKind);
  if (own) return ownChange(unit, own, event);
  const through = unit.registry.modules.find(({ topic }) => topic === event.entityKind);
  if (!through) return [];
  const changes = await Promise.all(kinds.map((module) => linkChange(unit, { module, through }, event)));
  return changes.flat();
}

async function ownChange(unit: UnitOfWork, module: EntityModule, event: EventRow): Promise<ReportedChange[]> {
  const { entityId: recordId, recordVersion, organizationId, occurredAt: at, actor, payload } = event;
  const row = await rowOfRecord(unit, module, recordId);
  const versions = await recordVersions(unit, module, recordId, recordVersion);
  const { changed: changedFields = [] } = payload as { readonly changed?: readonly string[] };
  const verb = event.topic.slice(module.topic.length + 1) as Verb;
  const change = changeOfVersion({
    recordId,
    recordVersion,
    organizationId,
    verb,
    changedFields,
    actor,
    at,
    row,
    ...versions,
  });
  return [{ module, recordId, recordVersion, change }];
}

/** The change that made a version of a record. Values that its history lacks are the current ones. */
export function changeOfVersion(version: ReportedVersion): ChangeFacts {
  const { recordId: id, recordVersion, organizationId, row, after, before, at } = version;
  const operation = operations[version.verb];
  const object = { ...row, ...after, id, organizationId, recordVersion };
  return {
    operation,
    object,
    oldObject: operation === 'create' || !before ? null : { ...object, ...before, recordVersion: recordVersion - 1 },
    userId: personIn(version.actor)[0] ?? null,
    changedFields: operation === 'delete' ? [] : version.changedFields,
    at,
  };
}

async function linkChange(
  unit: UnitOfWork,
  { module, through }: { readonly module: EntityModule; readonly through: EntityModule },
  event: EventRow,
): Promise<ReportedChange[]> {
  const edge = edgesOf(unit.registry, module).find((one) => one.through === through);
  const own = through.sides?.find(({ kind }) => kind === module.kind);
  const other = through.sides?.find(({ kind }) => kind !== module.kind);
  if (!edge || !own || !other) return [];
  const { entityId, recordVersion, occurredAt: at, actor } = event;
  const link: Row | undefined = await rowOfRecord(unit, through, entityId);
  const { after = link } = await recordVersions(unit, through, entityId, recordVersion);
  const recordId = after?.[own.field];
  if (typeof recordId !== 'string') return [];
  const object = (await unit.data.findOne(module, { id: { eq: recordId } })) as Row | undefined;
  // The record was deleted, with its links.
  if (!object) return [];
  const ids = { [edge.name]: [String(after?.[other.field])] };
  const change: ChangeFacts = {
    operation: 'update',
    object,
    oldObject: null,
    userId: personIn(actor)[0] ?? null,
    changedFields: [],
    at,
    changedEdges: [edge.name],
    ...(event.topic.endsWith('.created') ? { addedIds: ids } : { removedIds: ids }),
  };
  return [{ module, recordId, recordVersion: object['recordVersion'] as number, change }];
}
