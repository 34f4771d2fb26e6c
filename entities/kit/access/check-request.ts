import { sql } from 'kysely';
import { decidingRelation, parentContext, referenceRelation } from '../model/authorization-model.ts';
import type { CheckRequest } from './authorizer.ts';
import { callerKinds, type Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { maxHierarchyDepth } from '../model/hierarchy.ts';
import { hasObjectRights, passingFields, type Operation } from '../model/policy.ts';
import { isModuleEnabled } from '../model/module-gate.ts';
import type { Registry } from '../model/registry.ts';
import { column } from '../storage/column.ts';
import { compileSql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import { objectName, type ConditionedTuple, type Tuple } from '../model/tuples.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Builds the check of a caller's right to a record. Its contextual tuples, which pass rights down from the organization and from the
 * ancestors of the record, are built from the current rows.
 */
export async function checkRequestFor(
  session: RoleSession,
  { references }: Registry,
  { module, row, operation }: { module: EntityModule; row: Row; operation: Exclude<Operation, 'create'> },
  caller: Caller,
  organizations: readonly string[],
): Promise<CheckRequest> {
  const context: ConditionedTuple[] = [];
  for (const [index, organization] of organizations.entries()) {
    const above = organizations[index + 1];
    if (above !== undefined)
      context.push(contextualTuple('organization', organization, 'parent', 'organization', above));
  }
  let level = [{ module, row }];
  const seen = new Set<string>();
  for (let depth = 0; level.length > 0 && depth < maxHierarchyDepth; depth++) {
    const above: typeof level = [];
    for (const { module: kind, row: record } of level) {
      const id = record['id'] as string;
      if (seen.has(objectName(kind.kind, id)) || !hasObjectRights(kind.policy)) continue;
      seen.add(objectName(kind.kind, id));
      if (caller.organizationId !== null && !caller.outOfContext.includes(kind.kind)) {
        const condition = caller.contextConditions[kind.kind];
        const own = contextualTuple(kind.kind, id, parentContext, 'organization', caller.organizationId);
        context.push(condition ? { ...own, condition } : own);
      }
      for (const field of passingFields(kind.policy)) {
        const target = references.targetOf(kind, field);
        // A kind whose product module is disabled passes no rights down.
        const parent = isModuleEnabled(target, caller) ? await liveRow(session, target, record[field]) : undefined;
        if (!parent) continue;
        context.push(contextualTuple(kind.kind, id, referenceRelation(field), target.kind, parent['id'] as string));
        above.push({ module: target, row: parent });
      }
    }
    level = above;
  }
  const subject = `${callerKinds[caller.kind].subjectType ?? 'user'}:${caller.subjectId}`;
  // Support has no membership, so the store knows its role from the question alone.
  if (caller.kind === 'support' && caller.role !== null && caller.organizationId !== null)
    context.push({ object: objectName('organization', caller.organizationId), relation: caller.role, subject });
  return {
    object: objectName(module.kind, row['id'] as string),
    relation: decidingRelation[operation],
    subject,
    context,
  };
}

/** The id of a live record and its references that pass rights down. */
async function liveRow(session: RoleSession, module: EntityModule, id: unknown): Promise<Row | undefined> {
  if (typeof id !== 'string') return undefined;
  const names = ['id', ...passingFields(module.policy)];
  const { text, values } =
    compileSql(sql`select ${sql.join(names.map((name) => sql`${column('r', name)} as ${sql.id(name)}`))}
    from ${sql.table(module.table)} as r where ${column('r', 'id')} = ${id} and ${column('r', 'deletedAt')} is null`);
  return (await session.query<Record<string, unknown>>(text, values)).rows[0];
}

function contextualTuple(kind: string, id: string, relation: string, aboveKind: string, aboveId: string): Tuple {
  return { object: objectName(kind, id), relation, subject: objectName(aboveKind, aboveId) };
}
