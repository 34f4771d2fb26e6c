import { currentField, isSessionKind } from '#entities/kit/model/current-record.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { answeredFields } from '#entities/kit/model/exposure.ts';
import { openProposalField } from '#entities/kit/model/derived/open-proposal.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { fileValueNames } from '#entities/kit/model/files/stored-file.ts';
import type { DownloadBases } from '#entities/kit/read/file-selection.ts';
import { proposalsOf } from '#entities/kit/read/relations.ts';
import type { RecordPart, RecordSelection } from '#entities/kit/read/selection.ts';

/** All fields of a record in responses, named in snake_case. */
export function selectionOf(registry: Registry, module: EntityModule, bases: DownloadBases = {}): RecordSelection {
  const fileParts = [...fileValueParts, { is: 'url', as: 'url', bases } as const];
  return {
    module,
    parts: [
      ...answeredFields(module).flatMap((field): RecordPart[] => {
        if (module.fields[field]?.type === 'file')
          return [{ is: 'file', as: snakeCase(field), field, parts: fileParts }];
        const value = { is: 'value', as: snakeCase(field), field, words: 'stored' } as const;
        // Beside the version, with which it is the entity tag (record-version.ts).
        return field === 'recordVersion' ? [value, ...openProposalParts(registry, module)] : [value];
      }),
      ...(isSessionKind(module) ? [{ is: 'current', as: snakeCase(currentField.name) } as const] : []),
    ],
  };
}

function openProposalParts(registry: Registry, module: EntityModule): RecordPart[] {
  const relation = proposalsOf(registry, module);
  return relation ? [{ is: 'openProposal', as: snakeCase(openProposalField.name), relation }] : [];
}

const fileValueParts = fileValueNames.map(
  (value) => ({ is: 'value', as: snakeCase(value), value, words: 'stored' }) as const,
);
