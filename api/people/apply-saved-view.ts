import { savedView, viewFields } from '#entities/work/saved-view.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { nameForm } from '#entities/kit/base/name-form.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { Filter } from '#entities/kit/read/filter.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';
import { describedList, type DescribedList } from '#entities/kit/read/described-list.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Description of the parameter with which a list is read as a view says. */
export const viewDescription =
  'Saved view of these records, by its id or its name; the view of the caller comes before those of others with this name. Its filter applies in addition to that of the request; its order and page size apply where the request has none.';

/** Description of the columns of a view in lists of REST. GraphQL has a selection. */
export const viewColumnsDescription =
  'If it names columns, records have only these columns and the id. With search, the best matches come first, whatever its order.';

/** Parts of the request itself. */
interface Given {
  readonly hasOrder: boolean;
  readonly hasSize: boolean;
}

/** A list as a view says. */
interface Viewed {
  readonly page: PageSelection;
  /** Names of the fields to show; undefined when the view leaves them to its reader. */
  readonly columns?: readonly string[];
}

interface ViewWork {
  readonly data: DataClient;
  readonly registry: Registry;
  /** `server.maxresultlimit`. */
  readonly largestPage: number;
}

/**
 * The page of a list as a saved view says.
 * @param named id or name of the view
 * @throws AppError not_found; invalid_input for a view of other records, for one that its kind does not fit any more, and for a name of
 *   several views
 */
export async function withSavedView(
  page: PageSelection,
  named: string,
  given: Given,
  { data, registry, largestPage }: ViewWork,
): Promise<Viewed> {
  const held = isId(named)
    ? await data.get(savedView, existingId(savedView, named))
    : await viewNamed(data, page.module, named);
  const view = viewIn(registry, page.module, held);
  const filters = [view.filter, page.filter].filter((one): one is Filter => one !== undefined);
  return {
    page: {
      ...page,
      ...(filters.length === 0 ? {} : { filter: { is: 'and', filters } }),
      ...(given.hasOrder ? {} : { orderBy: view.orderBy }),
      ...(given.hasSize || held.pageSize === null ? {} : { size: Math.min(held.pageSize, largestPage) }),
    },
    ...(held.columns.length === 0 ? {} : { columns: view.fields }),
  };
}

/** Most views with one name that are counted. */
const maxViews = 100;

/** The view with this name, in the form in which names are compared, among those of the kind that the caller may use. */
async function viewNamed(data: DataClient, { kind, topic, typeName }: EntityModule, name: string): Promise<View> {
  const where = { recordKind: { in: [kind, topic] }, nameForm: { eq: nameForm(name) } };
  const { subjectId } = data.caller;
  const own =
    subjectId === null
      ? []
      : await data.find(savedView, { where: { ...where, ownerId: { eq: subjectId } }, limit: maxViews });
  const [view, ...others] = own.length > 0 ? own : await data.find(savedView, { where, limit: maxViews });
  const problem =
    view === undefined ? undefined : `is the name of ${others.length + 1} shared views; send the id of one of them`;
  if (view && others.length === 0) return view;
  if (problem !== undefined)
    throw new AppError('invalid_input', `The view ${problem}.`, {
      details: { fields: [{ path: '/view', message: problem }] },
    });
  throw new AppError(
    'not_found',
    `There is no view of ${typeName} records with the id or the name ${JSON.stringify(name)}.`,
  );
}

type View = RowOf<typeof savedView>;

function viewIn(registry: Registry, module: EntityModule, held: View): DescribedList {
  const described = describedList(registry, viewFields, { ...held });
  if ('list' in described && described.list.module === module) return described.list;
  const message =
    'list' in described
      ? `is a view of ${described.list.module.typeName} records`
      : `no longer fits its records: ${described.problems.map(({ path, message: why }) => `${path} ${why}`).join('; ')}`;
  throw new AppError('invalid_input', `The view ${message}.`, { details: { fields: [{ path: '/view', message }] } });
}
