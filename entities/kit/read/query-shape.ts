import type { EntityModule } from '../model/define.ts';
import type { EdgePart, ListsPart, PageInfoPart, PageSelection, RecordSelection } from './document.ts';
import { parseCursor, totalOrder, type CursorValues } from './order.ts';
import type { Relation } from './relations.ts';
import { operandOf, type Comparison, type Filter } from './where.ts';

/** Stands in a compiled statement for the value at this place. */
export class Placeholder {
  readonly place: number;

  constructor(place: number) {
    this.place = place;
  }
}

/** Where a page begins and ends. */
export interface Bounds {
  readonly after?: CursorValues;
  readonly before?: CursorValues;
}

/**
 * What of a selection changes the text of its statement, as a key, and apart from it the values that do not: ids, cursors
 * and what filters compare with.
 */
export class QueryShape {
  #key = '';
  readonly values: unknown[] = [];
  readonly #operands = new Map<Comparison, Comparison>();
  readonly #texts = new Map<Filter, Placeholder>();
  readonly #bounds = new Map<PageSelection, Bounds>();

  get key(): string {
    return this.#key;
  }

  /** The comparison with slots instead of its values. */
  operandsOf(comparison: Comparison): Comparison {
    return this.#operands.get(comparison) ?? comparison;
  }

  textOf(filter: Filter): Placeholder | undefined {
    return this.#texts.get(filter);
  }

  boundsOf(page: PageSelection): Bounds {
    return this.#bounds.get(page) ?? {};
  }

  slotFor(value: unknown): Placeholder {
    this.values.push(value);
    return new Placeholder(this.values.length - 1);
  }

  record({ module, parts }: RecordSelection): void {
    this.#write('record', moduleName(module), '{');
    for (const part of parts) {
      this.#write(part.is, part.as);
      if (part.is === 'value') this.#write(part.field, part.words ?? '');
      if (part.is === 'one') {
        this.#relation(part.relation);
        this.record(part.record);
      }
      if (part.is === 'page') {
        this.#relation(part.relation);
        this.page(part.page);
      }
    }
    this.#write('}');
  }

  /** @throws AppError invalid_cursor, invalid_input */
  page(page: PageSelection): void {
    const { module, filter, size, from, after, before } = page;
    this.#write('page', moduleName(module), from, String(size));
    for (const { field, direction } of page.orderBy) this.#write(field, direction);
    if (filter) this.#filter(filter, module);
    if (after !== undefined || before !== undefined)
      this.#bounds.set(page, {
        ...(after === undefined ? {} : { after: this.#cursor('after', page, after) }),
        ...(before === undefined ? {} : { before: this.#cursor('before', page, before) }),
      });
    this.#write('{');
    for (const part of page.parts) {
      this.#write(part.is, part.as);
      if (part.is === 'edges' || part.is === 'pageInfo') this.#parts(part.parts);
      if (part.is === 'records') this.record(part.record);
      if (part.is === 'typename') this.#write(part.name);
    }
    this.#write('}');
  }

  /** @throws AppError invalid_cursor, invalid_input */
  lists(parts: readonly ListsPart[]): void {
    for (const part of parts) {
      this.#write(part.is, part.as);
      if (part.is === 'page') this.page(part.page);
      else this.#write(part.name);
    }
  }

  #parts(parts: readonly (EdgePart | PageInfoPart)[]): void {
    this.#write('{');
    for (const part of parts) {
      this.#write(part.is, part.as);
      if (part.is === 'node') this.record(part.record);
      if (part.is === 'typename') this.#write(part.name);
    }
    this.#write('}');
  }

  /** Whether a value of a cursor is empty decides how rows are compared with it. */
  #cursor(side: 'after' | 'before', { module, orderBy }: PageSelection, cursor: string): CursorValues {
    const values = parseCursor(module, totalOrder(module, orderBy), cursor, side);
    this.#write(side);
    return values.map((value) => {
      this.#write(value === null ? 'none' : 'some');
      // It is handed on to where it is bound; nothing on the way looks at it.
      return value === null ? null : (this.slotFor(value) as unknown as string);
    });
  }

  #filter(filter: Filter, module: EntityModule): void {
    this.#write('(', filter.is);
    switch (filter.is) {
      case 'field':
        this.#write(filter.field);
        this.#comparison(module, filter.field, filter.comparison);
        break;
      case 'found':
        this.#write(moduleName(filter.module));
        this.#texts.set(filter, this.slotFor(filter.text));
        break;
      case 'related':
        this.#relation(filter.relation);
        this.#filter(filter.filter, filter.relation.target);
        break;
      case 'not':
        this.#filter(filter.filter, module);
        break;
      case 'and':
      case 'or':
        for (const part of filter.filters) this.#filter(part, module);
        break;
      default:
        filter satisfies never;
    }
    this.#write(')');
  }

  #comparison(module: EntityModule, name: string, comparison: Comparison): void {
    const slotted = Object.entries(comparison).map(([operator, given]: [string, unknown]) => {
      const value = operandOf(module, name, given);
      this.#write(operator);
      // It is a question of its own, not a value.
      if (operator !== 'isNull') return [operator, this.slotFor(value)];
      this.#write(String(value));
      return [operator, value];
    });
    this.#operands.set(comparison, Object.fromEntries(slotted) as Comparison);
  }

  #relation({ is, name, field, target }: Relation): void {
    this.#write(is, name, field, moduleName(target));
  }

  /** Each word with its length, so that no two selections are written alike. */
  #write(...words: readonly string[]): void {
    for (const word of words) this.#key += `${word.length}:${word}`;
  }
}

const numbers = new WeakMap<EntityModule, string>();
let last = 0;

/** Kinds of two registries may be called the same. */
function moduleName(module: EntityModule): string {
  let name = numbers.get(module);
  if (name === undefined) {
    name = `#${++last}`;
    numbers.set(module, name);
  }
  return name;
}
