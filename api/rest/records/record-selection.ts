import { currentField, isSessionKind } from '#entities/kit/model/current-record.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { answeredFields } from '#entities/kit/model/exposure.ts';
import { fileValueNames } from '#entities/kit/model/files/stored-file.ts';
import type { DownloadBases } from '#entities/kit/read/file-selection.ts';
import type { RecordPart, RecordSelection } from '#entities/kit/read/selection.ts';

/** All fields of a record in responses, named in snake_case. */
export function selectionOf(module: EntityModule, bases: DownloadBases = {}): RecordSelection {
  const fileParts = [...fileValueParts, { is: 'url', as: 'url', bases } as const];
  return {
    module,
    parts: [
      ...answeredFields(module).map((field): RecordPart =>
        module.fields[field]?.type === 'file'
          ? { is: 'file', as: snakeCase(field), field, parts: fileParts }
          : { is: 'value', as: snakeCase(field), field, words: 'stored' },
      ),
      ...(isSessionKind(module) ? [{ is: 'current', as: snakeCase(currentField.name) } as const] : []),
    ],
  };
}

const fileValueParts = fileValueNames.map(
  (value) => ({ is: 'value', as: snakeCase(value), value, words: 'stored' }) as const,
);
