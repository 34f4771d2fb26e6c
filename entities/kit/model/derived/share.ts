import { defineEntityModule, type EntityModule } from '../define.ts';
import { choice, reference } from '../fields.ts';
import { allow, anyone, deny, scope, system, through } from '../policy.ts';
import { refusesChanges } from '../behaviours/refuses-changes.ts';
import { refusedToAuditors } from './only-auditors.ts';
import { inWords, inWordsCapitalized, snakeCase } from '../../base/snake-case.ts';

/** Relations of a group to a record: `blocked` overrides the rights of its members, except those who may remove the record. */
export const shareRelations = ['viewer', 'editor', 'blocked'] as const;

/** Name of the kind of the shares of another one. */
export function shareKindOf({ kind }: Pick<EntityModule, 'kind'>): string {
  return `${kind}Share`;
}

/** Reference of a share to the record that it shares. */
export function sharedRecordField({ kind }: Pick<EntityModule, 'kind'>): string {
  return `${kind}Id`;
}

/**
 * The kind of shares of another kind (`share: true` in an entity file): each record gives one group access to one record of that
 * kind, or blocks it. As a kind it has a table, history, events, tuples and mutations. A caller needs the right to edit a record to change with which groups it is shared,
 * and the right to remove it to block a group (write/blocked-people.ts has who is never blocked).
 */
export function shareOf(module: EntityModule): EntityModule {
  const field = sharedRecordField(module);
  const shares = defineEntityModule({
    kind: shareKindOf(module),
    table: `${snakeCase(module.kind)}_shares`,
    description: `Access of a group to one ${inWords(module.kind)}: granted or blocked.`,
    fields: {
      [field]: reference(
        module.kind,
        `${inWordsCapitalized(module.kind)} that is shared with the group, or blocked for it.`,
        {
          immutable: true,
          onDelete: 'cascade',
          requires: 'edit',
          reverse: 'shares',
          exposed: 'read-write',
          lists: ['filter'],
        },
      ),
      groupId: reference('group', 'Group that gets or loses access to the record.', {
        immutable: true,
        onDelete: 'cascade',
        exposed: 'read-write',
        lists: ['filter'],
      }),
      relation: choice('Relation of the group to the record.', shareRelations, {
        immutable: true,
        exposed: 'read-write',
        lists: ['filter'],
      }),
    },
    behaviours: [
      refusesChanges([
        refusedToAuditors(
          'All members of the group are auditors, who only read. Share the record with the relation viewer.',
          `row.relation = 'editor'`,
        ),
      ]),
    ],
    unique: [{ fields: [field, 'groupId', 'relation'], message: 'The group already has this relation.' }],
    tenancy: 'organization',
    ...(module.productModules && { productModules: module.productModules }),
    policy: {
      view: [allow(system), allow(through(field)), allow(scope), deny(anyone)],
      create: [allow(system), allow(through(field)), allow(scope)],
      edit: [allow(system)],
      remove: [allow(system), allow(through(field)), allow(scope)],
    },
    mutate: ['create', 'delete'],
    events: ['created', 'deleted'],
    grants: [
      {
        object: { kind: module.kind, id: field },
        relation: { field: 'relation' },
        subject: { kind: 'group', id: 'groupId' },
      },
    ],
  });
  return { ...shares, restricted: { field: 'relation', is: 'blocked', on: field, requires: 'remove' } };
}
