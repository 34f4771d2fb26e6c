import type { AcceptedFiles } from '../files/accepted-types.ts';
import { defineEntityModule, type EntityModule } from '../define.ts';
import type { Field } from '../declared-field.ts';
import { reference } from '../fields.ts';
import { aboutFile, file, filledFromFile } from '../composed/file-field.ts';
import { allow, anyone, deny, scope, system, through } from '../policy.ts';
import { inWords, inWordsCapitalized, snakeCase } from '../../base/snake-case.ts';

/** Name of the kind of the files of another one. */
export function fileKindOf({ kind }: Pick<EntityModule, 'kind'>): string {
  return `${kind}File`;
}

/**
 * The kind of files of another one (`files` in an entity file): each record is one file of one record of that kind. As a kind it has a
 * table, history, events and mutations. People who may view the record read its files, and people who may edit it attach and remove them.
 */
export function filesOf(module: EntityModule, accepted: AcceptedFiles): EntityModule {
  const field = `${module.kind}Id`;
  // Widened, as the computed name widens the others.
  const about: Readonly<Record<string, Field>> = aboutFile();
  return defineEntityModule({
    kind: fileKindOf(module),
    table: `${snakeCase(module.kind)}_files`,
    description: `File of one ${inWords(module.kind)}.`,
    fields: {
      [field]: reference(module.kind, `${inWordsCapitalized(module.kind)} that the file belongs to.`, {
        immutable: true,
        onDelete: 'cascade',
        requires: 'edit',
        reverse: 'files',
        exposed: 'read-write',
        lists: ['filter'],
      }),
      content: file('Content.', {
        ...accepted,
        immutable: true,
        isNew: true,
        fills: filledFromFile,
        exposed: 'read-write',
      }),
      ...about,
    },
    tenancy: 'organization',
    ...(module.productModules && { productModules: module.productModules }),
    policy: {
      view: [allow(system), allow(scope), allow(through(field)), deny(anyone)],
      create: [allow(system), allow(scope), allow(through(field))],
      edit: [allow(system), allow(scope), allow(through(field))],
      remove: [allow(system), allow(scope), allow(through(field))],
    },
    mutate: ['create', 'update', 'delete'],
    events: ['created', 'updated', 'deleted'],
  });
}
