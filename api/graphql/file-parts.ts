import { fileValueNames } from '#entities/kit/model/files/stored-file.ts';
import type { FilePart } from '#entities/kit/read/file-selection.ts';

/** Name of the type of files. */
export const storedFileType = 'StoredFile';

/** Under this name, which no response name can be, a resolver of a file finds its object (`ObjectDocument`). */
export const objectKey = '#object';

/**
 * Selected parts of a file. Fields that are not stored, such as links, are made from the object, which no field of the schema shows.
 * @param fields that are selected, by the names under which the answer has them
 */
export function filePartsOf(fields: readonly { readonly as: string; readonly name: string }[]): {
  readonly parts: FilePart[];
  /** Whether resolvers complete what the statement returns. */
  readonly needsResolvers: boolean;
} {
  const parts = fields.flatMap(({ as, name }): FilePart[] => {
    if (name === '__typename') return [{ is: 'typename', as, name: storedFileType }];
    const value = fileValueNames.find((known) => known === name);
    return value ? [{ is: 'value', as, value }] : [];
  });
  if (parts.length === fields.length) return { parts, needsResolvers: false };
  return { parts: [...parts, { is: 'object', as: objectKey }], needsResolvers: true };
}
