import { didYouMean } from '../base/did-you-mean.ts';
import { snakeCase } from '../base/snake-case.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import type { Field } from '../model/declared-field.ts';
import { answeredFields, changeableFields, isRequired, writableFields, type NamedField } from '../model/exposure.ts';
import type { Registry } from '../model/registry.ts';
import { lookupsOf, type Lookup } from './csv-lookups.ts';
import { atCell, refuseHeader } from './csv-problems.ts';
import type { CsvRow } from './csv-rows.ts';

export interface CsvTarget {
  readonly registry: Registry;
  readonly module: EntityModule;
  readonly action: 'create' | 'update';
}

export type NamedColumn =
  | { readonly is: 'field'; readonly name: string; readonly field: Field }
  /** Values of other records that a reference names by them. */
  | { readonly is: 'lookup'; readonly name: string; readonly field: Field; readonly lookup: Lookup }
  /** Says which record changes. */
  | { readonly is: 'key'; readonly name: string }
  /** The server sets these values, so an export can be imported although it has them. */
  | { readonly is: 'ignored'; readonly name: string };

/** Spreadsheets leave columns without a name, whose cells are empty. */
export type Column = NamedColumn | { readonly is: 'blank'; readonly name: '' };

/** The columns that documents about a kind can have, by title. */
export function knownColumns({ registry, module, action }: CsvTarget): ReadonlyMap<string, NamedColumn> {
  const set = action === 'create' ? writableFields(module) : changeableFields(module);
  const keys = action === 'create' ? [] : serverKeysOf(module);
  const fields = set.flatMap(([name, field]): [string, NamedColumn][] => [
    [name, { is: 'field', name, field }],
    ...lookupsOf(registry, module, name, field).map((lookup): [string, NamedColumn] => [
      titleOf(name, lookup),
      { is: 'lookup', name, field, lookup },
    ]),
  ]);
  const known = new Map<string, NamedColumn>([
    ...keys.map((name): [string, NamedColumn] => [name, { is: 'key', name }]),
    // A field of its own wins over a look-up with its name.
    ...fields.toSorted(([, one], [, other]) => Number(one.is === 'field') - Number(other.is === 'field')),
  ]);
  for (const name of answeredFields(module)) if (!known.has(name)) known.set(name, { is: 'ignored', name });
  return known;
}

/** `assigneeEmail` for the e-mail address of the person in `assigneeId`. */
function titleOf(name: string, { by }: Lookup): string {
  return `${name.replace(/Id$/, '')}${by.slice(0, 1).toUpperCase()}${by.slice(1)}`;
}

/** Ids of records that the server sets. */
function serverKeysOf({ displayId }: EntityModule): string[] {
  return displayId === undefined ? ['id'] : ['id', 'displayId'];
}

/** Columns that can identify the record to change, of which the first applies. */
function keysOf(module: EntityModule): string[] {
  const { unique = [], tenancy, filter } = module;
  const isOwn = unique.some(
    ({ fields }) => fields.filter((name) => !tenancyField(tenancy).includes(name)).join() === externalId,
  );
  return [...serverKeysOf(module), ...(isOwn && filter.includes(externalId) ? [externalId] : [])];
}

/** Ids of records in the system of whoever imports them. */
const externalId = 'externalId';

/** Advice about records that exist already. */
export function updateAdvice({ module, action }: CsvTarget): string {
  const keys = keysOf(module).map((key) => `"${key}"`);
  return action === 'create' && (module.mutate ?? []).includes('update')
    ? ` To change records that exist, import with the action update (updateBulkCSV…) and the column ${keys.join(' or ')}.`
    : '';
}

export class Columns {
  /** As written in the header. */
  readonly titles: readonly string[];
  readonly columns: readonly Column[];

  constructor(titles: readonly string[], columns: readonly Column[]) {
    this.titles = titles;
    this.columns = columns;
  }

  /** Where the values of a field are; behind all columns for a field without one. */
  indexOf(name: string): number {
    const place = this.columns.findIndex((column) => column.name === name);
    return place < 0 ? this.columns.length : place;
  }

  /** The column that says which record changes. */
  get key(): number {
    return this.columns.findIndex(({ is }) => is === 'key');
  }
}

const blank = { is: 'blank', name: '' } as const;

/** Reads the header of a document. @throws AppError invalid_input with all problems */
export function readHeader(target: CsvTarget, header: CsvRow | undefined): Columns {
  const { module, action } = target;
  if (!header) refuseHeader(module, ['line 1: the header is missing']);
  const known = knownColumns(target);
  const { cells, line } = header;
  // One problem for the whole line: thousands of unknown cells would take too long to report.
  const titles = cells.map((cell) => cell.trim());
  const count = titles.filter((title) => title !== '').length;
  if (count > known.size)
    refuseHeader(module, [`line ${line}: the header has ${count} cells; at most ${known.size} are possible`]);
  const byTitle = new Map(
    [...known].flatMap(([title, column]) => [
      [title.toLowerCase(), column] as const,
      [snakeCase(title), column] as const,
    ]),
  );
  const named = titles.map((title) => (title === '' ? blank : byTitle.get(title.toLowerCase())));
  const key =
    action === 'create' ? undefined : keysOf(module).find((name) => named.some((column) => column?.name === name));
  // The server sets display ids; where a document has both, as exports have, the id says which record changes.
  const columns = named.map((column): Column | undefined => {
    if (column?.name === key && column) return { is: 'key', name: column.name };
    return column?.is === 'key' ? { is: 'ignored', name: column.name } : column;
  });
  const problems = [
    ...columns.flatMap((column, place) => (column ? [] : [unknownColumn(titles, place, line, known)])),
    ...doubledColumns(columns, titles, line),
    ...missingColumns(target, columns, line),
  ];
  if (problems.length > 0) refuseHeader(module, problems);
  return new Columns(titles, columns as readonly Column[]);
}

function unknownColumn(
  titles: readonly string[],
  place: number,
  line: number,
  known: ReadonlyMap<string, NamedColumn>,
): string {
  const title = titles[place] ?? '';
  const settable = [...known].filter(([, { is }]) => is !== 'ignored').map(([name]) => name);
  const near = didYouMean(title, settable);
  const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
  return atCell(line, title, `is not a known column${hint}; known columns are ${settable.join(', ')}`);
}

/** Columns that set what an earlier column sets. */
function doubledColumns(columns: readonly (Column | undefined)[], titles: readonly string[], line: number): string[] {
  return columns.flatMap((column, place) => {
    if (!column || column.is === 'blank') return [];
    const first = columns.findIndex((other) => other?.name === column.name);
    if (first === place) return [];
    const isTitle = titles[first]?.toLowerCase() === titles[place]?.toLowerCase();
    const message = isTitle
      ? 'occurs more than once'
      : `has the same meaning as the column "${titles[first]}"; leave out one`;
    return [atCell(line, titles[place] ?? '', message)];
  });
}

function missingColumns(
  { module, action }: CsvTarget,
  columns: readonly (Column | undefined)[],
  line: number,
): string[] {
  const named = new Set(columns.map((column) => column?.name));
  if (action === 'update') {
    const hasKey = columns.some((column) => column?.is === 'key');
    return hasKey
      ? []
      : [
          `line ${line}: the column ${keysOf(module)
            .map((key) => `"${key}"`)
            .join(' or ')} is missing; it identifies the record to change`,
        ];
  }
  const isMissing = ([name, field]: NamedField) => isRequired(field) && !named.has(name);
  return writableFields(module)
    .filter(isMissing)
    .map(([name]) => atCell(line, name, 'is missing'));
}
