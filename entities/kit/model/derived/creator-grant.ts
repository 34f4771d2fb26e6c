import { defineEntityModule, type EntityModule } from '../define.ts';
import { choice, reference } from '../fields.ts';
import { refusesChanges } from '../behaviours/refuses-changes.ts';
import { refusedToAuditors } from './only-auditors.ts';
import { allow, anyone, creatorRelation, creators, deny, role, system } from '../policy.ts';

/** Whether groups can be granted the right to create records of a kind. */
export function hasCreators({ policy }: EntityModule): boolean {
  return policy?.create.some(({ when }) => when === creators) ?? false;
}

/**
 * The kind whose records grant groups the right to create records of other kinds: of those whose rules say `allow(creators)`. As
 * a kind it has a history, events and tuples like all others.
 */
export function creatorGrantOf(modules: readonly EntityModule[]): EntityModule {
  const [first = '', ...others] = modules.map(({ kind }) => creatorRelation(kind));
  const managers = role('owner', 'super_admin');
  return defineEntityModule({
    kind: 'creatorGrant',
    table: 'creator_grants',
    description: 'Right of a group to create records of one kind.',
    fields: {
      groupId: reference('group', 'Group whose members may create records.', {
        immutable: true,
        onDelete: 'cascade',
        exposed: 'read-write',
        lists: ['filter'],
      }),
      relation: choice('Kind of record that members of the group may create.', [first, ...others], {
        immutable: true,
        exposed: 'read-write',
        lists: ['filter'],
      }),
    },
    behaviours: [refusesChanges([refusedToAuditors('All members of the group are auditors, who create nothing.')])],
    unique: [{ fields: ['groupId', 'relation'], message: 'The group already has this right.' }],
    tenancy: 'organization',
    policy: {
      view: [allow(system), allow(role('owner', 'super_admin', 'admin', 'auditor')), deny(anyone)],
      create: [allow(system), allow(managers)],
      edit: [allow(system)],
      remove: [allow(system), allow(managers)],
    },
    mutate: ['create', 'delete'],
    events: ['created', 'deleted'],
    grants: [
      {
        object: { kind: 'organization', id: 'organizationId' },
        relation: { field: 'relation' },
        subject: { kind: 'group', id: 'groupId' },
      },
    ],
  });
}
