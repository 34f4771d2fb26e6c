import { listFieldsOf } from '../model/behaviour.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { inputError } from '../base/input-error.ts';
import { describedList, type DescribedList } from '../read/described-list.ts';
import type { RecordJson } from './answers.ts';
import type { DataClient } from './data-client.ts';

export type { DescribedList };

/**
 * The list that a record describes (`describesList` of its kind). It was right when the record was created.
 * @throws AppError invalid_input when the product has changed since
 */
export function listOfRecord(registry: Registry, module: EntityModule, record: object): DescribedList {
  const list = listFieldsOf(module);
  if (!list) throw new Error(`records of the kind ${module.kind} describe no list`);
  const described = describedList(registry, list, record as Readonly<Record<string, unknown>>);
  if ('problems' in described) throw inputError(described.problems);
  return described.list;
}

interface ListPage {
  /** Values by the names of their fields. */
  readonly records: readonly RecordJson[];
  /** Cursor behind the last record; null when none follows. */
  readonly next: string | null;
  /** Number of all records; only of the first page. */
  readonly total?: number;
}

/** A page of the records that the caller can view, in one statement. @throws AppError, see `Answers.page` */
export async function pageOfList(
  data: DataClient,
  { module, fields, filter, orderBy }: DescribedList,
  { size, after }: { readonly size: number; readonly after: string | undefined },
): Promise<ListPage> {
  const parts = fields.map((field) => ({ is: 'value', as: field, field, words: 'stored' }) as const);
  const page = (await data.answers.page({
    module,
    ...(filter ? { filter } : {}),
    orderBy,
    size,
    from: 'first',
    ...(after === undefined ? {} : { after }),
    parts: [
      { is: 'records', as: 'records', record: { module, parts } },
      {
        is: 'pageInfo',
        as: 'info',
        parts: [
          { is: 'hasNextPage', as: 'hasNextPage' },
          { is: 'endCursor', as: 'endCursor' },
        ],
      },
      ...(after === undefined ? [{ is: 'totalCount', as: 'total' } as const] : []),
    ],
  })) as unknown as {
    readonly records: readonly RecordJson[];
    readonly info: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly total?: number;
  };
  const { records, info, total } = page;
  return { records, next: info.hasNextPage ? info.endCursor : null, ...(total === undefined ? {} : { total }) };
}
