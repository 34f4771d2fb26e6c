import { sql } from 'kysely';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { afterCursor, cursorOf, orderBy, reversed, totalOrder, type OrderTerm } from './order.ts';
import type { QueryShape } from './query-shape.ts';
import type { ToMany, ToOne } from './relations.ts';
import type { Sql } from '../storage/sql.ts';
import { formatColumn } from './format-column.ts';
import { fromClause, visibleRows } from './source.ts';
import { visible } from './visibility.ts';
import { Aliases, allOf, filterPredicate, link, type Filter } from './where.ts';

/** What is wanted of one record. `as` is the name of a value in the answer. */
export interface RecordSelection {
  readonly module: EntityModule;
  readonly parts: readonly RecordPart[];
}

export type RecordPart =
  | { readonly is: 'typename'; readonly as: string }
  | { readonly is: 'value'; readonly as: string; readonly field: string; readonly words?: ChoiceWords }
  | { readonly is: 'one'; readonly as: string; readonly relation: ToOne; readonly record: RecordSelection }
  | { readonly is: 'page'; readonly as: string; readonly relation: ToMany; readonly page: PageSelection };

/** How words of a choice are written: as they are stored, or in capitals, which they are when nothing is said. */
export type ChoiceWords = 'stored' | 'capitals';

/** What is wanted of a list. Exactly one of `first` and `last` says how many records. */
export interface PageSelection {
  readonly module: EntityModule;
  readonly filter?: Filter;
  readonly orderBy: readonly OrderTerm[];
  readonly size: number;
  readonly from: 'first' | 'last';
  readonly after?: string;
  readonly before?: string;
  readonly parts: readonly PagePart[];
}

export type PagePart =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | { readonly is: 'edges'; readonly as: string; readonly parts: readonly EdgePart[] }
  /** The records alone, without what a connection says of each. */
  | { readonly is: 'records'; readonly as: string; readonly record: RecordSelection }
  | { readonly is: 'pageInfo'; readonly as: string; readonly parts: readonly PageInfoPart[] }
  | { readonly is: 'totalCount'; readonly as: string };

export type EdgePart =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | { readonly is: 'cursor'; readonly as: string }
  | { readonly is: 'node'; readonly as: string; readonly record: RecordSelection };

export type PageInfoPart =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | {
      readonly is: 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor';
      readonly as: string;
    };

/** A part of an answer that is made of several lists. */
export type ListsPart =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | { readonly is: 'page'; readonly as: string; readonly page: PageSelection };

/** Compiles answers as JSON values: what is wanted, from the rows that the caller may see. */
export class DocumentCompiler {
  readonly #caller: Caller;
  readonly #outline: QueryShape;
  readonly #aliases = new Aliases();

  constructor(caller: Caller, outline: QueryShape) {
    this.#caller = caller;
    this.#outline = outline;
  }

  /** A select of one column, `result`: the record as JSON. */
  recordOf(record: RecordSelection, condition: (alias: string) => Sql): Sql {
    const alias = this.#aliases.next();
    const { module } = record;
    return sql`select ${this.#object(this.#recordParts(record, alias))} as result
      from ${sql.table(module.table)} as ${sql.ref(alias)}
      where ${condition(alias)} and ${visible(module, alias, this.#caller)}`;
  }

  lists(parts: readonly ListsPart[]): Sql {
    return this.#object(
      parts.map((part): Named => [part.as, part.is === 'page' ? this.page(part.page) : sql`${part.name}::text`]),
    );
  }

  /** A list as one JSON value. */
  page(page: PageSelection, parent?: { readonly relation: ToMany; readonly alias: string }): Sql {
    const { module } = page;
    const { after, before } = this.#outline.boundsOf(page);
    const scope = { aliases: this.#aliases, outline: this.#outline };
    const source = (alias: string, more: readonly Sql[] = []) => {
      const conditions = [
        ...(parent ? [link(parent.relation, parent.alias, alias)] : []),
        visibleRows(module, alias, this.#caller),
        ...(page.filter ? [filterPredicate(page.filter, { module, alias, caller: this.#caller }, scope)] : []),
        ...more,
      ];
      return sql`from ${fromClause(module)} as ${sql.ref(alias)} where ${allOf(conditions)}`;
    };
    const order = totalOrder(module, page.orderBy);
    const walked = page.from === 'first' ? order : reversed(order);
    const inner = this.#aliases.next();
    const bounds = [
      ...(after ? [afterCursor(inner, order, after)] : []),
      ...(before ? [afterCursor(inner, reversed(order), before)] : []),
    ];
    const rows = this.#aliases.next();
    const cursor = cursorOf(rows, module, order);
    const whole = this.#aliases.next();
    const aggregates: Named[] = [];
    const parts = page.parts.map(({ as, ...part }, index): Named => {
      switch (part.is) {
        case 'typename':
          return [as, sql`${part.name}::text`];
        case 'totalCount':
          return [as, sql`(select count(*) ${source(this.#aliases.next())})`];
        case 'edges':
          aggregates.push([`part${index}`, list(page, rows, this.#edge(part.parts, rows, cursor))]);
          return [as, sql.ref(`${whole}.part${index}`)];
        case 'records':
          aggregates.push([`part${index}`, list(page, rows, this.#object(this.#recordParts(part.record, rows)))]);
          return [as, sql.ref(`${whole}.part${index}`)];
        case 'pageInfo':
          if (!aggregates.some(([name]) => name === 'hasMore')) aggregates.push(...ends(page, rows, cursor));
          return [as, this.#pageInfo(part.parts, page, whole)];
        default:
          part satisfies never;
          throw new Error('unknown part');
      }
    });
    if (aggregates.length === 0) return this.#object(parts);
    // One row more than wanted tells whether there are more.
    const numbered = this.#aliases.next();
    return this.#object(
      parts,
      sql`(select ${named(aggregates)} from (
        select ${sql.ref(numbered)}.*, row_number() over (order by ${orderBy(numbered, walked)}) as "#place" from (
          select ${sql.ref(inner)}.* ${source(inner, bounds)} order by ${orderBy(inner, walked)} limit ${page.size + 1}
        ) as ${sql.ref(numbered)}) as ${sql.ref(rows)}) as ${sql.ref(whole)}`,
    );
  }

  #edge(parts: readonly EdgePart[], rows: string, cursor: Sql): Sql {
    return this.#object(
      parts.map(({ as, ...part }): Named => {
        switch (part.is) {
          case 'typename':
            return [as, sql`${part.name}::text`];
          case 'cursor':
            return [as, cursor];
          case 'node':
            return [as, this.#object(this.#recordParts(part.record, rows))];
          default:
            part satisfies never;
            throw new Error('unknown part');
        }
      }),
    );
  }

  #pageInfo(parts: readonly PageInfoPart[], page: PageSelection, whole: string): Sql {
    const isForward = page.from === 'first';
    const hasMore = sql.ref(`${whole}.hasMore`);
    return this.#object(
      parts.map(({ as, ...part }): Named => {
        switch (part.is) {
          case 'typename':
            return [as, sql`${part.name}::text`];
          // A record stands at the cursor itself, so there is something on its other side.
          case 'hasNextPage':
            return [as, isForward ? hasMore : sql`${page.before !== undefined}::boolean`];
          case 'hasPreviousPage':
            return [as, isForward ? sql`${page.after !== undefined}::boolean` : hasMore];
          case 'startCursor':
            return [as, sql.ref(`${whole}.${isForward ? 'nearCursor' : 'farCursor'}`)];
          case 'endCursor':
            return [as, sql.ref(`${whole}.${isForward ? 'farCursor' : 'nearCursor'}`)];
          default:
            part satisfies never;
            throw new Error('unknown part');
        }
      }),
    );
  }

  #recordParts({ module, parts }: RecordSelection, alias: string): Named[] {
    return parts.map(({ as, ...part }): Named => {
      switch (part.is) {
        case 'typename':
          return [as, sql`${module.typeName}::text`];
        case 'value':
          return [as, formatColumn(module, part.field, alias, part.words)];
        case 'one':
          return [as, sql`(${this.recordOf(part.record, (other) => link(part.relation, alias, other))})`];
        case 'page':
          return [as, this.page(part.page, { relation: part.relation, alias })];
        default:
          part satisfies never;
          throw new Error('unknown part');
      }
    });
  }

  /** An object with these values, in this order; `json_build_object` takes only fifty. */
  #object(parts: readonly Named[], from?: Sql): Sql {
    const alias = this.#aliases.next();
    const rows = from ? sql`from ${from}` : sql``;
    return sql`(select row_to_json(${sql.ref(alias)}) from (select ${named(parts)} ${rows}) as ${sql.ref(alias)})`;
  }
}

type Named = readonly [name: string, value: Sql];

function named(values: readonly Named[]): Sql {
  return sql.join(values.map(([name, value]) => sql`${value} as ${sql.id(name)}`));
}

/** Rows of the page without the one that only tells of more, and where each stands on the walk. */
function wantedRows({ size }: PageSelection, rows: string): { readonly wanted: Sql; readonly place: Sql } {
  const place = sql.ref(`${rows}.#place`);
  return { place, wanted: sql`${place} <= ${size}` };
}

/** One of these for each record of the page, in the order of the list. */
function list(page: PageSelection, rows: string, item: Sql): Sql {
  const { wanted, place } = wantedRows(page, rows);
  const direction = sql.raw(page.from === 'first' ? 'asc' : 'desc');
  return sql`coalesce(json_agg(${item} order by ${place} ${direction}) filter (where ${wanted}), '[]'::json)`;
}

/** Whether the walk goes on behind the page, and the cursors of its first and last record. */
function ends(page: PageSelection, rows: string, cursor: Sql): Named[] {
  const { wanted, place } = wantedRows(page, rows);
  const at = (direction: 'asc' | 'desc') =>
    sql`(array_agg(${cursor} order by ${place} ${sql.raw(direction)}) filter (where ${wanted}))[1]`;
  return [
    ['hasMore', sql`count(*) > ${page.size}`],
    ['nearCursor', at('asc')],
    ['farCursor', at('desc')],
  ];
}
