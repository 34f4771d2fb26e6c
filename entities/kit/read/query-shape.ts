import type { EntityModule } from '../model/define.ts';
import type { AggregateSelection } from './aggregate.ts';
import { detailOf } from './file-selection.ts';
import type { Comparison, Filter } from './filter.ts';
import { parseCursor, totalOrder, type CursorValues } from './order.ts';
import { Placeholder } from './placeholder.ts';
import type { Relation } from './relations.ts';
import type {
  EdgePart,
  ListsPart,
  PageInfoPart,
  PagePart,
  PageSelection,
  RecordPart,
  RecordSelection,
  RowsSelection,
} from './selection.ts';
import { operandsOf } from './where.ts';

/**
 * Separates a selection into a key, which decides the text of its statement, and values, which do not: ids, cursors and operands
 * of filters. Each method returns its part of the selection with placeholders for these values.
 */
export class QueryShape {
  #key = '';
  readonly values: unknown[] = [];
  /** The kinds that the selection names. */
  readonly modules = new Set<EntityModule>();

  get key(): string {
    return this.#key;
  }

  placeholder(value: unknown): Placeholder {
    this.values.push(value);
    return new Placeholder(this.values.length - 1);
  }

  /** @throws AppError invalid_cursor, invalid_input */
  record({ module, parts }: RecordSelection): RecordSelection<CursorValues> {
    this.modules.add(module);
    this.#write('record', module.kind, '{');
    const shaped = parts.map((part) => this.#recordPart(part));
    this.#write('}');
    return { module, parts: shaped };
  }

  /** @throws AppError invalid_input */
  rows(module: EntityModule, { where = {}, orderBy = [], limit, lockFor }: RowsSelection): RowsSelection<Placeholder> {
    this.#write('rows', module.kind, lockFor ?? '');
    for (const { field, direction } of orderBy) this.#write(field, direction);
    this.#write('{');
    const shaped = Object.entries(where).map(([name, comparison]): [string, Comparison] => {
      this.#write(name, '{');
      const operands = this.#comparison(module, name, comparison);
      this.#write('}');
      return [name, operands];
    });
    this.#write('}');
    return {
      where: Object.fromEntries(shaped),
      orderBy,
      limit: this.placeholder(limit),
      ...(lockFor ? { lockFor } : {}),
    };
  }

  /** @throws AppError invalid_cursor, invalid_input */
  page({ after, before, filter, found, parts, ...rest }: PageSelection): PageSelection<CursorValues> {
    const { module, size, from, orderBy } = rest;
    this.modules.add(module);
    this.#write('page', module.kind, from, String(size));
    for (const { field, direction } of orderBy) this.#write(field, direction);
    if (found !== undefined) this.#write('found');
    if (rest.isEverywhere) this.#write('everywhere');
    const shaped = {
      ...rest,
      ...(found === undefined ? {} : { found: this.placeholder(found) }),
      ...(filter ? { filter: this.#filter(filter, module) } : {}),
      ...(after === undefined ? {} : { after: this.#cursor('after', rest, after) }),
      ...(before === undefined ? {} : { before: this.#cursor('before', rest, before) }),
    };
    this.#write('{');
    const shapedParts = parts.map((part) => this.#pagePart(part));
    this.#write('}');
    return { ...shaped, parts: shapedParts };
  }

  /** @throws AppError invalid_input */
  aggregate({ filter, ...rest }: AggregateSelection): AggregateSelection {
    const { module, groupBy, numbers, size, words } = rest;
    this.modules.add(module);
    this.#write('aggregate', module.kind, String(size), words, groupBy.join(), numbers.join());
    return { ...rest, ...(filter ? { filter: this.#filter(filter, module) } : {}) };
  }

  /** @throws AppError invalid_cursor, invalid_input */
  lists(parts: readonly ListsPart[]): ListsPart<CursorValues>[] {
    return parts.map((part) => {
      this.#write(part.is, part.as);
      if (part.is === 'page') return { ...part, page: this.page(part.page) };
      this.#write(part.name);
      return part;
    });
  }

  #recordPart(part: RecordPart): RecordPart<CursorValues> {
    this.#write(part.is, part.as);
    switch (part.is) {
      case 'typename':
      case 'current':
        return part;
      case 'value':
        this.#write(part.field, part.words ?? '');
        return part;
      case 'openProposal':
        this.#relation(part.relation);
        return part;
      case 'file':
        this.#write(part.field);
        this.#inBraces(part.parts, (file) => this.#write(file.is, file.as, detailOf(file)));
        return part;
      case 'one':
        this.#relation(part.relation);
        return { ...part, record: this.record(part.record) };
      case 'page':
        this.#relation(part.relation);
        return { ...part, page: this.page(part.page) };
      default:
        part satisfies never;
        throw new Error('unknown part');
    }
  }

  #pagePart(part: PagePart): PagePart<CursorValues> {
    this.#write(part.is, part.as);
    switch (part.is) {
      case 'typename':
        this.#write(part.name);
        return part;
      case 'edges':
        return { ...part, parts: this.#inBraces(part.parts, (edge) => this.#edgePart(edge)) };
      case 'records':
        return { ...part, record: this.record(part.record) };
      case 'pageInfo':
        return { ...part, parts: this.#inBraces(part.parts, (info) => this.#pageInfoPart(info)) };
      case 'totalCount':
        return part;
      default:
        part satisfies never;
        throw new Error('unknown part');
    }
  }

  #inBraces<Part, Shaped>(parts: readonly Part[], shape: (part: Part) => Shaped): Shaped[] {
    this.#write('{');
    const shaped = parts.map(shape);
    this.#write('}');
    return shaped;
  }

  #edgePart(part: EdgePart): EdgePart<CursorValues> {
    this.#write(part.is, part.as);
    if (part.is === 'node') return { ...part, record: this.record(part.record) };
    if (part.is === 'typename') this.#write(part.name);
    return part;
  }

  #pageInfoPart(part: PageInfoPart): PageInfoPart {
    this.#write(part.is, part.as);
    if (part.is === 'typename') this.#write(part.name);
    return part;
  }

  /** Whether a value of a cursor is null decides how rows are compared with it, so that is part of the key. */
  #cursor(
    side: 'after' | 'before',
    { module, orderBy }: Pick<PageSelection, 'module' | 'orderBy'>,
    cursor: string,
  ): CursorValues {
    const values = parseCursor(module, totalOrder(module, orderBy), cursor, side);
    this.#write(side);
    return values.map((value) => {
      this.#write(value === null ? 'null' : 'value');
      return value === null ? null : this.placeholder(value);
    });
  }

  #filter(filter: Filter, module: EntityModule): Filter {
    this.#write('(', filter.is);
    const shaped = this.#filterParts(filter, module);
    this.#write(')');
    return shaped;
  }

  #filterParts(filter: Filter, module: EntityModule): Filter {
    switch (filter.is) {
      case 'field':
        this.#write(filter.field);
        return { ...filter, comparison: this.#comparison(module, filter.field, filter.comparison) };
      case 'related':
        this.#relation(filter.relation);
        return { ...filter, filter: this.#filter(filter.filter, filter.relation.target) };
      case 'openProposal':
        this.#relation(filter.relation);
        return filter;
      case 'not':
        return { ...filter, filter: this.#filter(filter.filter, module) };
      case 'and':
      case 'or':
        return { ...filter, filters: filter.filters.map((part) => this.#filter(part, module)) };
      default:
        filter satisfies never;
        throw new Error('unknown filter');
    }
  }

  #comparison(module: EntityModule, name: string, comparison: Comparison): Comparison {
    return operandsOf(module, name, comparison, (operator, operand) => {
      this.#write(operator);
      if (operator !== 'isNull') return this.placeholder(operand);
      // The operand decides the operator.
      this.#write(String(operand));
      return operand;
    });
  }

  #relation(relation: Relation): void {
    const { is, name, field, target } = relation;
    this.modules.add(target);
    if (is === 'many' && relation.via) this.modules.add(relation.via.module);
    this.#write(is, name, field, target.kind);
  }

  /** Writes each word with its length, so that different selections never have the same key. */
  #write(...words: readonly string[]): void {
    for (const word of words) this.#key += `${word.length}:${word}`;
  }
}
