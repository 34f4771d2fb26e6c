import { describesList } from '../kit/behaviours/describes-list.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { listFilter } from '../kit/model/composed/list-filter.ts';
import { choice, integer, member, singleLine, text, textList } from '../kit/model/fields.ts';
import { allow, anyone, deny, related, role, system } from '../kit/model/policy.ts';

/** Its fields that describe the list. */
export const viewFields = { kind: 'recordKind', fields: 'columns', filter: 'filter', orderBy: 'orderBy' } as const;

export const savedView = defineEntityModule({
  kind: 'savedView',
  table: 'saved_views',
  description:
    'Filter, order, columns and page size of a list that a person has saved. A list that is given the id of a view is returned as the view defines.',
  fields: {
    name: singleLine('Name of the view.', {
      min: 1,
      max: 120,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    recordKind: {
      ...text('Kind of the records that it lists, for example task.', {
        max: 64,
        immutable: true,
        exposed: 'read-write',
        lists: ['filter'],
      }),
      naming: 'kind',
    },
    visibility: choice(
      'Whether only its owner uses the view (private), or everybody in the organization (organization).',
      ['private', 'organization'],
      { default: 'private', exposed: 'read-write', lists: ['filter'] },
    ),
    filter: listFilter('Filter in the form of the argument `where` of GraphQL; null for all records.', {
      exposed: 'read-write',
    }),
    orderBy: {
      ...textList('Fields to sort by, with a minus before those in descending order, for example -dueAt.', {
        max: 64,
        maxItems: 5,
        exposed: 'read-write',
      }),
      naming: 'fields',
    },
    columns: {
      ...textList('Fields to show, in this order; empty for those that the reader chooses.', {
        max: 64,
        maxItems: 100,
        exposed: 'read-write',
      }),
      naming: 'fields',
    },
    pageSize: integer('Number of records of a page; null for the default.', {
      min: 1,
      max: 1_000,
      optional: true,
      exposed: 'read-write',
    }),
    ownerId: member('Person who saved the view.', {
      optional: true,
      immutable: true,
      onLeave: 'cascade',
      creator: true,
      reverse: 'savedViews',
      exposed: 'read',
      lists: ['filter'],
    }),
  },
  unique: [
    {
      fields: ['organizationId', 'ownerId', 'recordKind', 'name'],
      comparedAsName: 'name',
      message: 'You have a view of these records with this name.',
    },
  ],
  behaviours: [describesList(viewFields)],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(related('owner', 'viewer')), deny(anyone)],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member'))],
    edit: [allow(system), allow(related('owner'))],
    remove: [allow(system), allow(related('owner'))],
  },
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  grants: [
    { object: { kind: 'savedView', id: 'id' }, relation: 'owner', subject: { kind: 'user', id: 'ownerId' } },
    {
      object: { kind: 'savedView', id: 'id' },
      relation: 'viewer',
      subject: { kind: 'organization', id: 'organizationId' },
      when: { field: 'visibility', is: 'organization' },
    },
  ],
});
