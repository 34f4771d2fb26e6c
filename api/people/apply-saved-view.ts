import { savedView, viewFields } from '#entities/work/saved-view.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { Filter } from '#entities/kit/read/filter.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';
import { describedList, type DescribedList } from '#entities/kit/read/described-list.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Description of the parameter with which a list is read as a view says. */
export const viewDescription =
  'Id of a saved view of these records. Its filter applies besides that of the request; its order and page size count where the request has none.';

/** What a request says itself. */
interface Given {
  readonly hasOrder: boolean;
  readonly hasSize: boolean;
}

/**
 * The page of a list as a saved view says.
 * @param largestPage `server.maxresultlimit`
 * @throws AppError not_found; invalid_input for a view of other records, and for one that its kind does not fit any more
 */
export async function withSavedView(
  page: PageSelection,
  viewId: string,
  given: Given,
  {
    data,
    registry,
    largestPage,
  }: { readonly data: DataClient; readonly registry: Registry; readonly largestPage: number },
): Promise<PageSelection> {
  const held = await data.get(savedView, existingId(savedView, viewId));
  const view = viewIn(registry, page.module, held);
  const filters = [view.filter, page.filter].filter((one): one is Filter => one !== undefined);
  return {
    ...page,
    ...(filters.length === 0 ? {} : { filter: { is: 'and', filters } }),
    ...(given.hasOrder ? {} : { orderBy: view.orderBy }),
    ...(given.hasSize || held.pageSize === null ? {} : { size: Math.min(held.pageSize, largestPage) }),
  };
}

function viewIn(registry: Registry, module: EntityModule, held: RowOf<typeof savedView>): DescribedList {
  const described = describedList(registry, viewFields, { ...held });
  if ('list' in described && described.list.module === module) return described.list;
  const message =
    'list' in described
      ? `is a view of ${described.list.module.typeName} records`
      : `does not fit its records any more: ${described.problems.map(({ path, message: why }) => `${path} ${why}`).join('; ')}`;
  throw new AppError('invalid_input', `The view ${message}.`, { details: { fields: [{ path: '/view', message }] } });
}
