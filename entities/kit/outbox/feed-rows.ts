import type { EntityModule } from '../model/define.ts';
import { onceForEach } from '../base/once-for-each.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';

/** A row of the table `record_changes`: that a record has changed, and nothing that it holds. */
export interface FeedRow {
  readonly id: string;
  readonly entity_kind: string;
  readonly entity_id: string;
  readonly organization_id: string | null;
  readonly viewer_id: string | null;
  readonly operation: RecordedChange['operation'];
  readonly record_version: number;
}

/** Messages to subscribers about these changes. @param recorded each with the id of its history entry */
export function feedRows(
  recorded: readonly { readonly change: RecordedChange; readonly id: string }[],
): readonly FeedRow[] {
  return recorded.map(({ change, id }) => ({
    id,
    entity_kind: change.module.topic,
    entity_id: change.id,
    organization_id: change.organizationId,
    viewer_id: viewerOf(change),
    operation: change.operation,
    record_version: change.recordVersion,
  }));
}

/** The person or API token without whom nobody views the record, so that nobody else is asked about it; null if there can be others. It gives no right. */
function viewerOf({ module, after, changedFields, operation }: RecordedChange): string | null {
  const { field, tokenField = '' } = soleViewer(module);
  // The previous person may need the message, too.
  if (field === undefined || (operation !== 'created' && changedFields.includes(field))) return null;
  const id = after[field] ?? after[tokenField];
  // Nobody has this id.
  return typeof id === 'string' ? id : '-';
}

interface SoleViewer {
  readonly field: string | undefined;
  /** Holds the id of the API token of a record without a person. */
  readonly tokenField?: string;
}

/** The field with the id of the only person whom the rules let view a record. */
const soleViewer = onceForEach((module: EntityModule): SoleViewer => {
  if (module.tenancy === 'user') return { field: 'userId' };
  const fields = new Set<string | undefined>();
  let tokenField: string | undefined;
  for (const { effect, when } of module.policy?.view ?? []) {
    if (effect === 'deny' && when.is === 'anyone')
      return {
        field: fields.size === 1 ? [...fields][0] : undefined,
        ...(tokenField === undefined ? {} : { tokenField }),
      };
    if (effect === 'deny' || when.is === 'system') continue;
    if (when.is === 'scope' && when.field !== undefined) {
      tokenField = when.field;
      continue;
    }
    fields.add(when.is === 'self' ? when.field : when.is === 'related' ? personIn(module, when.relations) : undefined);
  }
  return { field: undefined };
});

/** The field of a kind from which alone a relation to its records follows, if that is a person. */
function personIn(module: EntityModule, relations: readonly string[]): string | undefined {
  const grants = (module.grants ?? []).filter(
    ({ relation }) => typeof relation === 'string' && relations.includes(relation),
  );
  const [grant] = grants;
  if (grants.length !== 1 || !grant || module.share) return undefined;
  const { object, subject } = grant;
  return object.kind === module.kind && subject.kind === 'user' && typeof subject.id === 'string'
    ? subject.id
    : undefined;
}
