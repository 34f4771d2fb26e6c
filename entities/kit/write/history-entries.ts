import { newId } from '../base/ids.ts';
import type { RecordedChange } from '../model/changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { RecordedBy } from './recorded-by.ts';

/** One row of the table `history` for each change: what changed, and the record afterwards. */
export function historyEntries(changes: readonly RecordedChange[], by: RecordedBy): object[] {
  return changes.map((change) => ({
    ...by,
    id: newId(),
    entity_kind: change.module.topic,
    entity_id: change.id,
    organization_id: change.organizationId,
    operation: change.operation,
    record_version: change.recordVersion,
    changed_fields: namesWithoutSecrets(change),
    snapshot: snapshotOf(change),
  }));
}

/** Names of the changed fields; secret fields are never named. */
export function namesWithoutSecrets({ module, changedFields }: RecordedChange): string[] {
  return changedFields.filter((name) => !isSecret(module, name));
}

function isSecret(module: EntityModule, field: string): boolean {
  return module.fields[field]?.secret ?? false;
}

function snapshotOf({ module, after }: RecordedChange): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(module.fields)
      .filter((name) => !isSecret(module, name))
      .map((name) => [name, after[name] ?? null]),
  );
}
