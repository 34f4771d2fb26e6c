import { Type } from 'typebox';
import { idPattern } from '../../base/ids.ts';
import type { AcceptedFiles, FilledFields } from '../files/accepted-types.ts';
import { make, type Exact, type Field, type Made, type Options } from '../declared-field.ts';
import { integer, json, text } from '../fields.ts';

interface FileOptions extends Options<string, never>, AcceptedFiles {
  readonly fills?: FilledFields;
  /** See `Field.isNew`. */
  readonly isNew?: true;
}

/**
 * A file that belongs to the record: whoever may view the record reads it, and whoever may edit the record attaches and removes it. The
 * column holds the id of the stored object; the input is the id of an upload (write/claim-files.ts).
 */
export function file<const O extends FileOptions>(
  description: string,
  options: O & Exact<O, FileOptions>,
): Made<string, O> {
  const { accept, maxSizeMb, fills = {}, isNew }: FileOptions = options;
  const shape = {
    schema: Type.String({ pattern: idPattern.source }),
    columnType: 'text',
    file: { accept, maxSizeMb, fills },
    ...(isNew ? { isNew } : {}),
  };
  return make<string, O>('file', description, options, shape, ['accept', 'maxSizeMb', 'fills', 'isNew']);
}

/** A field that says what was measured of the record's file (`fills`). Callers cannot set it. */
export function measured<Value>(field: Field<Value, false>): Field<Value, false, true> {
  return { ...field, generated: true } as unknown as Field<Value, false, true>;
}

/** A field that says something about the record's file (`fills`). Left out, it gets what the upload says. */
function saidByFile<Value>(field: Field<Value, false>): Field<Value, false, true> {
  return { ...field, isFilled: true } as unknown as Field<Value, false, true>;
}

/** Which fields of `aboutFile` the field of the file fills. */
export const filledFromFile = { name: 'name', contentType: 'contentType', sizeBytes: 'sizeBytes' } as const;

/** The fields of a kind of which each record is one file, beside the file itself. */
export function aboutFile() {
  return {
    name: saidByFile(
      text('File name; default: that of the upload.', {
        max: 255,
        exposed: 'read-write',
        lists: ['filter', 'order', 'search'],
      }),
    ),
    contentType: measured(
      text('Media type (MIME type) that the content has.', { max: 255, exposed: 'read', lists: ['filter'] }),
    ),
    sizeBytes: measured(
      integer('Size in bytes.', { min: 0, max: Number.MAX_SAFE_INTEGER, exposed: 'read', lists: ['filter', 'order'] }),
    ),
    metadata: json('Metadata supplied by the uploader.', { maxBytes: 16_384, optional: true, exposed: 'read-write' }),
  };
}
