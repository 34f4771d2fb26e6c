import { isDeepStrictEqual } from 'node:util';
import { ArrayType, type EntityManager, type EntityMetadata } from '@mikro-orm/postgresql';
import type { EntityModule } from './define.ts';
import { recordFieldNames } from './derived/record-fields.ts';
import type { RecordChange, RecordedOperation } from './record-change.ts';
import type { Registry } from './registry.ts';

export interface RecordedChange extends RecordChange {
  readonly module: EntityModule;
}

type Values = Record<string, unknown>;

/** Fields that are set with every change, and so are not reported as changed. */
const bookkeeping = new Set<string>(recordFieldNames);

/** The changes that the next flush will write, one per row even if the row was changed several times. */
export function recordedChanges(em: EntityManager, registry: Registry): RecordedChange[] {
  const unit = em.getUnitOfWork();
  unit.computeChangeSets();
  return [...unit.getChangeSets()].map((changeSet) => {
    const module = registry.byTypeName(changeSet.meta.className);
    const before = withLists(em, changeSet.meta, (changeSet.originalEntity as Values | undefined) ?? null);
    const after = changeSet.entity as Values;
    const payload = changeSet.payload as Values;
    const touched = Object.keys(payload).filter((name) => !bookkeeping.has(name));
    return changeOf(module, before, after, before === null ? touched.filter((name) => payload[name] != null) : touched);
  });
}

/** The change of a row. @param before null for a new one */
export function changeOf(
  module: EntityModule,
  before: Readonly<Values> | null,
  after: Readonly<Values>,
  changedFields: readonly string[],
): RecordedChange {
  return {
    module,
    operation: operationOf(before, after),
    id: after['id'] as string,
    recordVersion: after['recordVersion'] as number,
    organizationId: organizationOf(module, after),
    changedFields,
    before,
    after,
  };
}

/** The values with their lists as such: MikroORM keeps those of the row as PostgreSQL writes them. */
function withLists(em: EntityManager, { properties }: EntityMetadata, values: Values | null): Values | null {
  if (values === null) return null;
  const lists = Object.entries(values).flatMap(([name, value]) => {
    const { customType } = properties[name] ?? {};
    return typeof value === 'string' && customType instanceof ArrayType
      ? [[name, customType.convertToJSValue(value, em.getPlatform())]]
      : [];
  });
  return lists.length === 0 ? values : { ...values, ...Object.fromEntries(lists) };
}

function operationOf(before: Readonly<Values> | null, after: Readonly<Values>): RecordedOperation {
  if (before === null) return 'created';
  return before['deletedAt'] == null && after['deletedAt'] != null ? 'deleted' : 'updated';
}

/** The organization a record belongs to; an organization belongs to itself. */
export function organizationOf(module: EntityModule, row: Readonly<Values>): string | null {
  if (module.kind === 'organization') return row['id'] as string;
  return module.tenancy === 'organization' ? (row['organizationId'] as string) : null;
}

/**
 * The organization without which nobody can know of a record: null where callers of several organizations can. Records that are found by an
 * id alone (`record_kinds`, `stored_objects`) are limited to it.
 */
export function soleOrganizationOf(module: EntityModule, organizationId: string | null): string | null {
  return module.tenancy === 'organization' && module.rlsUsing === undefined ? organizationId : null;
}

/** The values that differ from those of the row. */
export function differences(row: Readonly<Values>, values: Readonly<Values>): Values {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => !isDeepStrictEqual(row[name], value)));
}
