import { sql } from 'kysely';
import type { FileValue } from '../model/files/stored-file.ts';
import { column } from '../storage/column.ts';
import type { Sql } from '../storage/sql.ts';
import type { ChoiceWords } from './choice-form.ts';

/**
 * A selected part of a file. `object`: its location too (`ObjectDocument`), for the server alone: whoever selects it
 * takes it out of the answer.
 */
export type FilePart =
  | { readonly is: 'typename'; readonly as: string; readonly name: string }
  | { readonly is: 'value'; readonly as: string; readonly value: FileValue; readonly words?: ChoiceWords }
  /** URL of the download, which needs credentials. */
  | { readonly is: 'url'; readonly as: string; readonly bases: DownloadBases }
  | { readonly is: 'object'; readonly as: string };

/** Base URLs of downloads by provider. */
export type DownloadBases = Readonly<Record<string, string>>;

/** Detail that distinguishes a part from others of its sort. */
export function detailOf(part: FilePart): string {
  switch (part.is) {
    case 'typename':
      return part.name;
    case 'value':
      return `${part.value} ${part.words ?? ''}`;
    case 'url':
      return Object.values(part.bases).join(' ');
    case 'object':
      return '';
    default:
      part satisfies never;
      throw new Error('unknown part');
  }
}

/** The value of a part of a file. @param alias of `stored_objects` */
export function filePart(part: FilePart, alias: string): Sql {
  switch (part.is) {
    case 'typename':
      return sql`${part.name}::text`;
    case 'value':
      return fileValue(part.value, alias, part.words);
    case 'url':
      return sql`${baseOf(part.bases, alias)} || '/' || ${column(alias, 'id')} || '/download'`;
    case 'object':
      return sql`object_for_download(${column(alias, 'id')})`;
    default:
      part satisfies never;
      throw new Error('unknown part');
  }
}

function fileValue(value: FileValue, alias: string, words: ChoiceWords = 'capitals'): Sql {
  if (value === 'sha256') return sql`encode(${column(alias, 'sha256')}, 'hex')`;
  if (value !== 'availability') return column(alias, value);
  const given = ['verdict', 'organizationId', 'ownerKind'].map((name) => column(alias, name));
  const found = sql`file_availability(${sql.join(given)})`;
  return words === 'capitals' ? sql`upper(${found})` : found;
}

function baseOf(bases: DownloadBases, alias: string): Sql {
  const [first = '', ...others] = new Set(Object.values(bases));
  if (others.length === 0) return sql`${first}::text`;
  const cases = Object.entries(bases).map(([provider, base]) => sql`when ${provider}::text then ${base}::text`);
  return sql`case ${column(alias, 'provider')} ${sql.join(cases, sql` `)} end`;
}

/** Predicate for the object that a field of a record owns. Row-level security hides those of other organizations. */
export function ownedBy(alias: string, record: string, field: string): Sql {
  return sql`${column(alias, 'id')} = ${column(record, field)} and ${column(alias, 'state')} = 'owned' and ${column(alias, 'ownerId')} = ${column(record, 'id')}`;
}
