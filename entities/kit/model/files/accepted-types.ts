import { mebibyte, sizeText } from '../../base/mebibyte.ts';

/** Media types by the names of the lists that fields of files name. Types are those that the content shows, not those that clients state. */
const images = ['image/jpeg', 'image/png'];
const documents = ['application/pdf', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'];
const common = [
  ...images,
  ...documents,
  'text/plain',
  'application/zip',
  'application/rtf',
  'application/vnd.oasis.opendocument.text',
  'text/markdown',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.oasis.opendocument.spreadsheet',
  'text/csv',
  'application/yaml',
  'application/json',
];

const lists = {
  avatar: [...images, 'image/webp'],
  logo: [...images, 'image/webp', 'image/svg+xml'],
  favicon: [...images, 'image/x-icon'],
  hero: images,
  evidence: [...common, 'video/quicktime', 'video/mp4', 'video/webm'],
  export: ['text/csv', 'text/plain', 'application/json', 'application/zip', ...documents, 'text/markdown'],
  import: ['text/csv', 'text/plain'],
  text: ['text/plain', 'text/markdown', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  trustCenter: [...images, 'image/webp', ...documents],
  pdf: ['application/pdf'],
  common,
} as const satisfies Readonly<Record<string, readonly string[]>>;

type AcceptedList = keyof typeof lists;

/** Which files a field accepts. */
export interface AcceptedFiles {
  readonly accept: AcceptedList;
  readonly maxSizeMb: number;
}

export function acceptedTypes({ accept }: Pick<AcceptedFiles, 'accept'>): readonly string[] {
  return lists[accept];
}

export function maxBytesOf({ maxSizeMb }: Pick<AcceptedFiles, 'maxSizeMb'>): number {
  return maxSizeMb * mebibyte;
}

/** Problem of a file for a field, as the end of a sentence about it; undefined for one that it accepts. */
export function fileProblem(
  rule: AcceptedFiles,
  { contentType, sizeBytes }: { readonly contentType: string; readonly sizeBytes: number },
): { readonly code: 'file_type_refused' | 'body_too_large'; readonly message: string } | undefined {
  const types = acceptedTypes(rule);
  if (!types.includes(contentType)) {
    const message = `is of the type ${contentType}; accepted are ${types.join(', ')}`;
    return { code: 'file_type_refused', message };
  }
  if (sizeBytes <= maxBytesOf(rule)) return undefined;
  return {
    code: 'body_too_large',
    message: `is larger than ${sizeText(maxBytesOf(rule))}, the limit of this field`,
  };
}

export interface FilledFields {
  /** Gets the name of the file where the caller gives none. */
  readonly name?: string;
  /** Measured; callers cannot set it. */
  readonly contentType?: string;
  /** Measured; callers cannot set it. */
  readonly sizeBytes?: string;
}

export interface FileRule extends AcceptedFiles {
  readonly fills: FilledFields;
}
