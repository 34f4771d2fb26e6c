import { idPattern } from '../base/ids.ts';
import { inWordsCapitalized } from '../base/snake-case.ts';
import type { Field } from '../model/declared-field.ts';
import type { EntityModule } from '../model/define.ts';
import { isRequired } from '../model/exposure.ts';
import { csvLine } from './csv-cells.ts';
import { knownColumns, type CsvTarget, type NamedColumn } from './csv-columns.ts';
import { recordWord, type Lookup } from './csv-lookups.ts';
import { cellOfValue } from './csv-values.ts';

/** Content of a template below its header: nothing, a row as an example, or a row that describes the values of each column. */
export const templateRows = ['none', 'example', 'values'] as const;

export type TemplateRows = (typeof templateRows)[number];

type Titled = readonly [title: string, column: Exclude<NamedColumn, { readonly is: 'ignored' }>];

/**
 * A document to fill in: its header has the column of each field that an import can set. A record in a reference is named by a
 * look-up column where there is one, because people do not know ids.
 */
export function csvTemplate(target: CsvTarget, rows: TemplateRows): string {
  const columns = templateColumns(target);
  const header = csvLine(columns.map(([title]) => title));
  if (rows === 'none') return header;
  return header + csvLine(columns.map(rows === 'example' ? exampleOf(target.module) : valuesOf(target)));
}

function templateColumns(target: CsvTarget): Titled[] {
  const known = [...knownColumns(target)].flatMap(([title, column]): Titled[] =>
    column.is === 'ignored' ? [] : [[title, column]],
  );
  const lookups = new Set(known.flatMap(([, column]) => (column.is === 'lookup' ? [column.name] : [])));
  const seen = new Set<string>();
  const ordered = known.toSorted(([, one], [, other]) => indexOf(target.module, one) - indexOf(target.module, other));
  return ordered.filter(([, column]) => {
    const { is, name } = column;
    // One column for each field: of a key the last one, the display id.
    if (is === 'key') return name === (target.module.displayId === undefined ? 'id' : 'displayId');
    const isFileToLeaveOut = column.field.type === 'file' && !isRequired(column.field);
    if (isFileToLeaveOut || (is === 'field' && lookups.has(name)) || seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

/** In the order of the fields of the kind, what names the record first. */
function indexOf({ fields }: EntityModule, column: Titled[1]): number {
  return column.is === 'key' ? -1 : Object.keys(fields).indexOf(column.name);
}

function exampleOf({ displayId }: EntityModule): (titled: Titled) => string {
  return ([title, column]) => {
    if (column.is === 'key') return `${displayId ?? 'id'}-…`;
    const { field } = column;
    if (column.is === 'lookup') return isRequired(field) ? `(${inWordsCapitalized(title)})` : '';
    return exampleValue(title, field);
  };
}

const exampleId = '01J0000000000000000000000A';

function exampleValue(title: string, field: Field): string {
  const { format, minimum, pattern, examples } = field.schema as {
    format?: string;
    minimum?: number;
    pattern?: string;
    examples?: readonly string[];
  };
  if (field.default !== undefined && field.default !== null && field.type !== 'textList')
    return cellOfValue({ type: field.type, default: undefined }, field.default);
  switch (field.type) {
    case 'choice':
      return field.values?.[0] ?? '';
    case 'integer':
      return String(minimum ?? 0);
    case 'decimal':
      return '12.50';
    case 'boolean':
      return 'true';
    case 'date':
      return '2026-01-31';
    case 'timestamp':
      return field.momentOf ? '' : '2026-01-31T12:00:00Z';
    case 'textList':
      return '';
    case 'json':
      return '{}';
    case 'text':
      if (format === 'email') return 'name@example.com';
      if (pattern === idPattern.source && isRequired(field)) return exampleId;
      if (pattern !== undefined) return isRequired(field) ? (examples?.[0] ?? '') : '';
      return inWordsCapitalized(title);
    case 'reference':
    case 'file':
      return '';
    default:
      field.type satisfies never;
      throw new Error('unknown field type');
  }
}

/** Possible values of the cells of each column. */
function valuesOf({ action }: CsvTarget): (titled: Titled) => string {
  return ([, column]) => {
    if (column.is === 'key') return 'required: says which record changes';
    const { field } = column;
    const need = action === 'create' && isRequired(field) ? 'required' : 'optional';
    const form = column.is === 'lookup' ? lookupForm(column.lookup) : formOf(field);
    return `${need}: ${form}`;
  };
}

function lookupForm({ by, target }: Lookup): string {
  const word = recordWord(target);
  const name = by === 'email' ? 'E-mail address' : inWordsCapitalized(by);
  return `${name} of ${/^[aeio]/.test(word) ? 'an' : 'a'} ${word}`;
}

function formOf(field: Field): string {
  const { minimum, maximum, maxLength, maxItems } = field.schema as Readonly<Record<string, number | undefined>>;
  switch (field.type) {
    case 'choice':
      return (field.values ?? []).join(' | ');
    case 'integer':
      return `whole number from ${minimum} to ${maximum}`;
    case 'decimal':
      return 'decimal number such as 12.50';
    case 'boolean':
      return 'true | false';
    case 'date':
      return 'day such as 2026-01-31';
    case 'timestamp':
      return `timestamp such as 2026-01-31T12:00:00Z${field.momentOf ? `, with the ${field.momentOf.field} ${field.momentOf.is}` : ''}`;
    case 'textList':
      return `up to ${maxItems} ${field.holdsUrls ? 'URLs' : 'texts'} separated by ;`;
    case 'json':
      return 'JSON';
    case 'text':
      return `text of up to ${maxLength} characters`;
    case 'reference':
      return 'id of a record';
    case 'file':
      return 'id of an upload';
    default:
      field.type satisfies never;
      throw new Error('unknown field type');
  }
}
