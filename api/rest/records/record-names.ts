import type { EntityModule } from '#entities/kit/model/define.ts';
import { inWords, pascalCase } from '#entities/kit/base/snake-case.ts';

/** Names of a kind in REST. */
interface RecordNames {
  /** Path of its list. */
  readonly path: string;
  /** In sentences: `group membership`. */
  readonly singular: string;
  readonly plural: string;
  /** Tag of its operations in the reference. */
  readonly tag: string;
  /** In names of operations and schemas: `GroupMembership`. */
  readonly one: string;
  /** `GroupMemberships`. */
  readonly many: string;
}

/** `/v1/group-memberships` for the table `group_memberships`. */
export function recordNames({ kind, table }: EntityModule): RecordNames {
  const plural = inWords(table);
  return {
    path: `/v1/${table.replaceAll('_', '-')}`,
    singular: inWords(kind),
    plural,
    tag: plural.slice(0, 1).toUpperCase() + plural.slice(1),
    one: pascalCase(kind),
    many: pascalCase(table),
  };
}
