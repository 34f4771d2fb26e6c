import { sql } from 'kysely';
import { column } from '../storage/column.ts';
import type { Sql } from '../storage/sql.ts';
import { filePart, ownedBy, type FilePart } from './file-selection.ts';
import { formatColumn } from './format-column.ts';
import { afterCursor, cursorOf, orderBy, reversed, totalOrder, type CursorValues } from './order.ts';
import type { ToMany } from './relations.ts';
import type { EdgePart, ListsPart, PageInfoPart, PageSelection, RecordSelection } from './selection.ts';
import { foundRows, fromClause, visibleRows } from './from-clause.ts';
import type { Viewer } from './viewer.ts';
import { listScope } from './scope.ts';
import { visible } from './visibility.ts';
import { Aliases, allOf, filterPredicate, joinPredicate } from './where.ts';

/** Compiles selections, with placeholders for their values, into SQL for JSON values of the rows that the caller may see. */
export class DocumentCompiler {
  readonly #viewer: Viewer;
  readonly #aliases = new Aliases();

  constructor(viewer: Viewer) {
    this.#viewer = viewer;
  }

  /** A select of one column, `result`: the record as JSON. */
  recordOf(record: RecordSelection<CursorValues>, condition: (alias: string) => Sql): Sql {
    const alias = this.#aliases.next();
    const { module } = record;
    return sql`select ${this.#object(this.#recordParts(record, alias))} as result
      from ${sql.table(module.table)} as ${sql.ref(alias)}
      where ${condition(alias)} and ${visible(module, alias, this.#viewer)}`;
  }

  lists(parts: readonly ListsPart<CursorValues>[]): Sql {
    return this.#object(
      parts.map((part): Named => [part.as, part.is === 'page' ? this.page(part.page) : sql`${part.name}::text`]),
    );
  }

  /** A list as one JSON value. */
  page(page: PageSelection<CursorValues>, parent?: { readonly relation: ToMany; readonly alias: string }): Sql {
    const { module, after, before } = page;
    const source = (alias: string, more: readonly Sql[] = []) => {
      const conditions = [
        ...(parent ? [joinPredicate(parent.relation, parent.alias, alias)] : []),
        ...(parent || page.isEverywhere ? [] : [listScope(module, alias, this.#viewer)]),
        visibleRows(module, alias, this.#viewer),
        ...(page.filter ? [filterPredicate(page.filter, { module, alias, viewer: this.#viewer }, this.#aliases)] : []),
        ...more,
      ];
      const from = page.found === undefined ? fromClause(module) : foundRows(module, page.found, this.#viewer);
      return sql`from ${from} as ${sql.ref(alias)} where ${allOf(conditions)}`;
    };
    const order = totalOrder(module, page.orderBy);
    const walked = page.from === 'first' ? order : reversed(order);
    const inner = this.#aliases.next();
    const bounds = [
      ...(after ? [afterCursor(module, inner, order, after)] : []),
      ...(before ? [afterCursor(module, inner, reversed(order), before)] : []),
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
    // One row more than the page holds shows whether more follow.
    const numbered = this.#aliases.next();
    return this.#object(
      parts,
      sql`(select ${named(aggregates)} from (
        select ${sql.ref(numbered)}.*, row_number() over (order by ${orderBy(module, numbered, walked)}) as "#position" from (
          select ${sql.ref(inner)}.* ${source(inner, bounds)} order by ${orderBy(module, inner, walked)} limit ${page.size + 1}
        ) as ${sql.ref(numbered)}) as ${sql.ref(rows)}) as ${sql.ref(whole)}`,
    );
  }

  #edge(parts: readonly EdgePart<CursorValues>[], rows: string, cursor: Sql): Sql {
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

  #pageInfo(parts: readonly PageInfoPart[], page: PageSelection<CursorValues>, whole: string): Sql {
    const isForward = page.from === 'first';
    const hasMore = sql.ref(`${whole}.hasMore`);
    return this.#object(
      parts.map(({ as, ...part }): Named => {
        switch (part.is) {
          case 'typename':
            return [as, sql`${part.name}::text`];
          // The record of the cursor itself is on the other side of it, so there is at least one.
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

  #recordParts({ module, parts }: RecordSelection<CursorValues>, alias: string): Named[] {
    return parts.map(({ as, ...part }): Named => {
      switch (part.is) {
        case 'typename':
          return [as, sql`${module.typeName}::text`];
        case 'value':
          return [as, formatColumn(module, part.field, alias, part.words)];
        case 'current':
          return [as, this.#viewer.sessionId ? sql`${column(alias, 'id')} = ${this.#viewer.sessionId}` : sql`false`];
        case 'openProposal':
          return [as, filterPredicate(part, { module, alias, viewer: this.#viewer }, this.#aliases)];
        case 'file':
          return [as, this.#file(alias, part.field, part.parts)];
        case 'one':
          return [as, sql`(${this.recordOf(part.record, (other) => joinPredicate(part.relation, alias, other))})`];
        case 'page':
          return [as, this.page(part.page, { relation: part.relation, alias })];
        default:
          part satisfies never;
          throw new Error('unknown part');
      }
    });
  }

  /** The file of a field as JSON; null without one, and for a record that is older than the field. */
  #file(record: string, field: string, parts: readonly FilePart[]): Sql {
    const alias = this.#aliases.next();
    const values = parts.map((part): Named => [part.as, filePart(part, alias)]);
    return sql`(select ${this.#object(values)} from stored_objects as ${sql.ref(alias)} where ${ownedBy(alias, record, field)})`;
  }

  /** A JSON object with these values in this order; `json_build_object` is limited to 100 arguments, which are 50 values. */
  #object(parts: readonly Named[], from?: Sql): Sql {
    const alias = this.#aliases.next();
    const rows = from ? sql`from ${from}` : sql``;
    // With `.*` it is the row, even where a response name, and so a column, is the same word as the alias.
    return sql`(select row_to_json(${sql.ref(alias)}.*) from (select ${named(parts)} ${rows}) as ${sql.ref(alias)})`;
  }
}

type Named = readonly [name: string, value: Sql];

type PageSize = Pick<PageSelection, 'size' | 'from'>;

function named(values: readonly Named[]): Sql {
  return sql.join(values.map(([name, value]) => sql`${value} as ${sql.id(name)}`));
}

/** Rows of the page without the extra one, and the position of each in the order in which they are read. */
function wantedRows({ size }: PageSize, rows: string): { readonly wanted: Sql; readonly position: Sql } {
  const position = sql.ref(`${rows}.#position`);
  return { position, wanted: sql`${position} <= ${size}` };
}

/** A JSON list with one item for each record of the page, in the order of the list. */
function list(page: PageSize, rows: string, item: Sql): Sql {
  const { wanted, position } = wantedRows(page, rows);
  const direction = sql.raw(page.from === 'first' ? 'asc' : 'desc');
  return sql`coalesce(json_agg(${item} order by ${position} ${direction}) filter (where ${wanted}), '[]'::json)`;
}

/** Whether more records follow the page, and the cursors of its first and last record. */
function ends(page: PageSize, rows: string, cursor: Sql): Named[] {
  const { wanted, position } = wantedRows(page, rows);
  const at = (direction: 'asc' | 'desc') =>
    sql`(array_agg(${cursor} order by ${position} ${sql.raw(direction)}) filter (where ${wanted}))[1]`;
  return [
    ['hasMore', sql`count(*) > ${page.size}`],
    ['nearCursor', at('asc')],
    ['farCursor', at('desc')],
  ];
}
