import { isAppError } from '#entities/kit/base/errors.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { historyOf } from '#entities/kit/model/derived/history-kind.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { RecordSelection } from '#entities/kit/read/selection.ts';
import type { PlacedChange } from '../../subscriptions/record-subscription.ts';
import { asFound } from '../nodes.ts';
import type { StreamContext } from './stream-field.ts';

/** A change that the subscriber may know of. */
export interface VisibleChange extends PlacedChange {
  /** The record as the subscriber can view it now, by response name; empty for one that was deleted. */
  readonly records: ReadonlyMap<string, unknown>;
}

/** Selected fields of the records, by response name; at least one entry, to learn who may view a record. */
export type SelectionsByName = ReadonlyMap<string, readonly RecordSelection[]>;

/** Selections of the records below one field. */
export function selectionsOf(
  context: StreamContext,
  field: string,
  modules: readonly EntityModule[],
): SelectionsByName {
  const selected = context
    .selected(field)
    .map(({ as, info }) => [as, context.readerOf(info).nodes(modules, 1)] as const);
  if (selected.length > 0) return new Map(selected);
  return new Map([
    ['', modules.map((module) => ({ module, parts: [{ is: 'value', as: 'id', field: 'id' } as const] }))],
  ]);
}

/**
 * Of these changes, those that the subscriber may know of, with the records as they can be viewed at this moment. All is read in one
 * statement for each response name, and one more for each kind of which records were deleted. A record that cannot be viewed leaves no
 * trace. The deletion of a record is sent to callers who may read its history then.
 * @throws AppError
 */
export async function visibleChanges(
  placed: readonly PlacedChange[],
  selections: SelectionsByName,
  context: StreamContext,
  registry: Registry,
): Promise<readonly VisibleChange[]> {
  try {
    return await readChanges(placed, selections, context, registry);
  } catch (error) {
    // Together they are too large for one answer.
    if (placed.length === 1 || !isAppError(error) || error.code !== 'limit_exceeded') throw error;
    const visible: VisibleChange[] = [];
    for (const one of placed) visible.push(...(await readChanges([one], selections, context, registry)));
    return visible;
  }
}

async function readChanges(
  placed: readonly PlacedChange[],
  selections: SelectionsByName,
  context: StreamContext,
  registry: Registry,
): Promise<readonly VisibleChange[]> {
  const live = placed.filter(({ change }) => change.operation !== 'deleted');
  const found = await readLive(live, selections, context);
  const deleted = await readDeleted(placed, context, registry);
  return placed.flatMap((one): VisibleChange[] => {
    const { operation, recordId } = one.change;
    if (operation === 'deleted') return deleted.has(recordId) ? [{ ...one, records: new Map() }] : [];
    const records = found.get(recordId);
    return records ? [{ ...one, records }] : [];
  });
}

/** Records that can be viewed, by id and response name. */
async function readLive(
  placed: readonly PlacedChange[],
  selections: SelectionsByName,
  context: StreamContext,
): Promise<ReadonlyMap<string, ReadonlyMap<string, unknown>>> {
  const kinds = new Map(placed.map(({ change }) => [change.recordId, change.kind]));
  const ids = [...kinds.keys()];
  const found = new Map<string, Map<string, unknown>>();
  if (ids.length === 0) return found;
  const wanted = new Set(kinds.values());
  for (const [as, records] of selections) {
    const ofKinds = records.filter(({ module }) => wanted.has(module.topic));
    const nodes = await context.read((unit) =>
      unit.data.answers.singleStatementNodes(ofKinds, ids, [...kinds.values()]),
    );
    for (const [index, node] of nodes.entries()) {
      const id = ids[index] ?? '';
      if (node) found.set(id, (found.get(id) ?? new Map<string, unknown>()).set(as, asFound(node)));
    }
  }
  return found;
}

/** Ids of the deleted records whose history the caller can read. */
async function readDeleted(
  placed: readonly PlacedChange[],
  context: StreamContext,
  registry: Registry,
): Promise<ReadonlySet<string>> {
  const deleted = placed.filter(({ change }) => change.operation === 'deleted');
  const known = new Set<string>();
  for (const [topic, ofKind] of Map.groupBy(deleted, ({ change }) => change.kind)) {
    const module = registry.modules.find((one) => one.topic === topic);
    if (!module) continue;
    const ids = [...new Set(ofKind.map(({ change }) => change.recordId))];
    const text = await context.read((unit) =>
      unit.data.answers.singleStatementPage({
        module: historyOf(module),
        filter: {
          is: 'and',
          filters: [
            { is: 'field', field: 'recordId', comparison: { in: ids } },
            { is: 'field', field: 'operation', comparison: { eq: 'deleted' } },
          ],
        },
        orderBy: [],
        size: ids.length,
        from: 'first',
        parts: [
          {
            is: 'records',
            as: 'records',
            record: { module: historyOf(module), parts: [{ is: 'value', as: 'id', field: 'recordId' }] },
          },
        ],
      }),
    );
    const { records } = JSON.parse(text) as { readonly records: readonly { readonly id: string }[] };
    for (const { id } of records) known.add(id);
  }
  return known;
}
