import { tenancyField, type EntityModule } from '#entities/kit/model/define.ts';
import { readableFields } from '#entities/kit/model/exposure.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';

/** What a kind is called in REST. */
export interface RecordNames {
  /** Address of its list. */
  readonly path: string;
  /** In running text: `group membership`. */
  readonly singular: string;
  readonly plural: string;
  /** Heading of its operations in the reference. */
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

/** Fields of an answer, in its order: those every record shows, whose it is, and what its kind exposes. */
export function answeredFields(module: EntityModule): string[] {
  const exposed = readableFields(module).map(([name]) => name);
  return ['id', 'createdAt', 'updatedAt', 'recordVersion', ...tenancyField(module.tenancy), ...exposed];
}
