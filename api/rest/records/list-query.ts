import { Type, type TObject, type TSchema } from 'typebox';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { Field } from '#entities/kit/model/fields.ts';
import { parseInstant } from '#entities/kit/base/instant.ts';
import type { PageSelection, RecordSelection } from '#entities/kit/read/selection.ts';
import { maxCursorLength, maxOrderTerms, type OrderTerm } from '#entities/kit/read/order.ts';
import type { Filter } from '#entities/kit/read/filter.ts';
import { orderableFields } from '#entities/kit/read/where.ts';
import { pageSlice, defaultPageSize, type SliceArguments } from '../../http/page-slice.ts';
import { recordNames } from './record-names.ts';
import { idText, valueSchema } from './record-schema.ts';

/** Query parameters of a list: page, order, count, and a value for each filter. */
interface ListQuery extends SliceArguments {
  readonly order_by?: string;
  readonly count?: boolean;
  readonly [filter: string]: unknown;
}

const cursor = (description: string) => Type.Optional(Type.String({ maxLength: maxCursorLength, description }));
const size = (description: string) => Type.Optional(Type.Integer({ description }));

/** @throws TypeError when a filter has the name of another parameter */
export function listQuerySchema(module: EntityModule): TObject {
  const orders = orderableFields(module).map(snakeCase);
  const term = `-?(?:${orders.join('|')})`;
  const common: Record<string, TSchema> = {
    first: size(`Number of records from the start of the list. Without first and last: ${defaultPageSize}.`),
    after: cursor('Only records after this cursor.'),
    last: size('Number of records from the end of the list.'),
    before: cursor('Only records before this cursor.'),
    order_by: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: `^${term}(?:,${term}){0,${maxOrderTerms - 1}}$`,
        description: `Sort order: comma-separated fields, each with a leading minus for descending order. Fields: ${orders.join(', ')}.`,
      }),
    ),
    count: Type.Optional(
      Type.Boolean({ description: 'Whether to return the number of all matching records as total_count.' }),
    ),
  };
  const filters = filterFields(module).map(([name, field]): [string, TSchema] => {
    if (Object.hasOwn(common, name))
      throw new TypeError(`entity "${module.kind}": REST lists use "${name}" themselves`);
    const description =
      field.type === 'textList'
        ? `Only records whose list contains this value. ${field.description}`
        : field.description;
    return [name, Type.Optional(Type.Unsafe({ ...operandSchema(field), description }))];
  });
  return Type.Object({ ...common, ...Object.fromEntries(filters) }, { additionalProperties: false });
}

/**
 * Translates the query parameters into a selection.
 * @param largestPage `server.maxresultlimit`
 * @throws AppError limit_exceeded, invalid_input
 */
export function listSelection(record: RecordSelection, query: ListQuery, largestPage: number): PageSelection {
  const { module } = record;
  const filters = filterFields(module).flatMap(([name, field, fieldName]): Filter[] => {
    const value = query[name];
    if (value === undefined) return [];
    const wanted = field.type === 'timestamp' && typeof value === 'string' ? parseInstant(value) : value;
    return [
      {
        is: 'field',
        field: fieldName,
        comparison: field.type === 'textList' ? { has: wanted as string } : { eq: wanted },
      },
    ];
  });
  return {
    module,
    ...(filters.length === 0 ? {} : { filter: { is: 'and', filters } }),
    orderBy: orderTerms(module, query.order_by),
    ...pageSlice(query, largestPage),
    parts: [
      { is: 'records', as: 'data', record },
      { is: 'pageInfo', as: 'page_info', parts: pageInfo },
      ...(query.count === true ? [{ is: 'totalCount', as: 'total_count' } as const] : []),
    ],
  };
}

const pageInfo = [
  { is: 'hasNextPage', as: 'has_next_page' },
  { is: 'hasPreviousPage', as: 'has_previous_page' },
  { is: 'startCursor', as: 'start_cursor' },
  { is: 'endCursor', as: 'end_cursor' },
] as const;

/** Response schema of a page. */
export function pageSchema(module: EntityModule, record: TObject): TObject {
  const cursorOrNone = Type.Unsafe({ type: ['string', 'null'] });
  return Type.Object(
    {
      data: Type.Array(record),
      page_info: Type.Object({
        has_next_page: Type.Boolean({ description: 'Whether records follow this page.' }),
        has_previous_page: Type.Boolean({ description: 'Whether records precede this page.' }),
        start_cursor: cursorOrNone,
        end_cursor: cursorOrNone,
      }),
      total_count: Type.Optional(
        Type.Integer({ description: 'Number of all matching records, if count was requested.' }),
      ),
    },
    { description: `A page of ${recordNames(module).plural}.` },
  );
}

/** Declared filters by their name in the query. Fields that are not exposed have none. */
function filterFields(module: EntityModule): [name: string, field: Field, fieldName: string][] {
  return module.filter.flatMap((fieldName): [string, Field, string][] => {
    const field = module.fields[fieldName];
    return field && field.type !== 'json' ? [[snakeCase(fieldName), field, fieldName]] : [];
  });
}

function operandSchema(field: Field): object {
  if (field.type === 'textList') return (field.schema as { readonly items?: object }).items ?? {};
  // A malformed id matches no record.
  return field.type === 'reference' ? idText : valueSchema(field);
}

/** The schema has rejected unknown names. */
function orderTerms(module: EntityModule, text: string | undefined): OrderTerm[] {
  if (text === undefined) return [];
  const byName = new Map(orderableFields(module).map((field) => [snakeCase(field), field]));
  return text.split(',').map((term): OrderTerm => {
    const isDescending = term.startsWith('-');
    const field = byName.get(isDescending ? term.slice(1) : term) as string;
    return { field, direction: isDescending ? 'desc' : 'asc' };
  });
}
