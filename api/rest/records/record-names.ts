import { tenancyField, type EntityModule } from '#entities/kit/model/define.ts';
import { readableFields } from '#entities/kit/model/exposure.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';

/** Names of a kind in REST. */
export interface RecordNames {
  /** Path of its list. */
  readonly path: string;
  /** In sentences: `group membership`. */
  readonly singular: string;
  readonly plural: string;
  /** Tag of its operations in the reference. */
  readonly tag: string;
}

/** `/v1/group-memberships` for the table `group_memberships`. */
export function recordNames({ kind, table }: EntityModule): RecordNames {
  const plural = inWords(table);
  return {
    path: `/v1/${table.replaceAll('_', '-')}`,
    singular: inWords(kind),
    plural,
    tag: plural.slice(0, 1).toUpperCase() + plural.slice(1),
  };
}

/** Fields of a record in responses, in order: those of every record, the tenancy field, and the exposed fields of its kind. */
export function answeredFields(module: EntityModule): string[] {
  const exposed = readableFields(module).map(([name]) => name);
  return ['id', 'createdAt', 'updatedAt', 'recordVersion', ...tenancyField(module.tenancy), ...exposed];
}
