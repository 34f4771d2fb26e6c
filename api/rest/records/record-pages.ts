import { Type, type TObject } from 'typebox';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { searchPosition, type OrderTerm } from '#entities/kit/read/order.ts';
import { maxSearchLength, searchTextDescription } from '#entities/kit/read/search-text.ts';
import type { PagePart, PageSelection, RecordSelection } from '#entities/kit/read/selection.ts';
import { pageSlice, type SliceArguments } from '../../http/response/page-slice.ts';
import { visibleText } from '../../http/request-schemas.ts';
import { recordNames } from './record-names.ts';

const pageInfo = [
  { is: 'hasNextPage', as: 'has_next_page' },
  { is: 'hasPreviousPage', as: 'has_previous_page' },
  { is: 'startCursor', as: 'start_cursor' },
  { is: 'endCursor', as: 'end_cursor' },
] as const;

/** Properties of every page. */
export function pageParts(record: RecordSelection): PagePart[] {
  return [
    { is: 'records', as: 'data', record },
    { is: 'pageInfo', as: 'page_info', parts: pageInfo },
  ];
}

/** The page with the id and the columns of a view alone. */
export function withColumns(page: PageSelection, columns: readonly string[]): PageSelection {
  const shown = new Set(['id', ...columns].map(snakeCase));
  const parts = page.parts.map((part) => {
    if (part.is !== 'records') return part;
    const { record } = part;
    return { ...part, record: { ...record, parts: record.parts.filter(({ as }) => shown.has(as)) } };
  });
  return { ...page, parts };
}

/** The order of a search. */
export const bestFirst: readonly OrderTerm[] = [{ field: searchPosition, direction: 'asc' }];

/** The selection of what a search finds of a kind. @throws AppError limit_exceeded */
export function foundSelection(
  record: RecordSelection,
  text: string,
  slice: SliceArguments,
  largestPage: number,
): PageSelection {
  const { module } = record;
  return { module, found: text, orderBy: bestFirst, ...pageSlice(slice, largestPage), parts: pageParts(record) };
}

/** Schema of the text of a search. */
export const searchText = Type.String({
  minLength: 1,
  maxLength: maxSearchLength,
  // White space alone is refused in words of its own.
  [describedKeyword]: { pattern: visibleText },
  examples: ['renew'],
  description: searchTextDescription,
});

/** Response schema of a record in a list: a saved view may show less than the whole record. */
export function listedSchema(module: EntityModule, { properties }: TObject): TObject {
  const { id, ...others } = properties;
  return Type.Object(
    { ...(id ? { id } : {}), ...Type.Partial(Type.Object(others)).properties },
    {
      title: `Listed${recordNames(module).one}`,
      description: `${module.description} If the list uses a saved view with columns, a record has only these columns and the id.`,
    },
  );
}

/** Response schema of a page. */
export function pageSchema(module: EntityModule, record: TObject): TObject {
  const cursorOrNone = Type.Unsafe({ type: ['string', 'null'] });
  return Type.Object(
    {
      data: Type.Array(record),
      page_info: Type.Object(
        {
          has_next_page: Type.Boolean({ description: 'Whether records follow this page.' }),
          has_previous_page: Type.Boolean({ description: 'Whether records precede this page.' }),
          start_cursor: cursorOrNone,
          end_cursor: cursorOrNone,
        },
        { title: 'PageInfo', description: 'Position of the page in the list.' },
      ),
      total_count: Type.Optional(
        Type.Integer({ description: 'Number of all matching records, if count was requested.' }),
      ),
    },
    { title: `${recordNames(module).one}Page`, description: `A page of ${recordNames(module).plural}.` },
  );
}
