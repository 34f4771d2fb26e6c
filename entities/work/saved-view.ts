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
    name: singleLine('Name of the view.', { min: 1, max: 120 }),
    recordKind: {
      ...text('Kind of the records that it lists, for example task.', { max: 64, immutable: true }),
      naming: 'kind',
    },
    visibility: choice(
      'Whether only its owner uses the view (private), or everybody in the organization (organization).',
      ['private', 'organization'],
      { default: 'private' },
    ),
    filter: listFilter('Filter in the form of the argument `where` of GraphQL; null for all records.'),
    orderBy: {
      ...textList('Fields to sort by, with a minus before those in descending order, for example -dueAt.', {
        max: 64,
        maxItems: 5,
      }),
      naming: 'fields',
    },
    columns: {
      ...textList('Fields to show, in this order; empty for those that the reader chooses.', {
        max: 64,
        maxItems: 100,
      }),
      naming: 'fields',
    },
    pageSize: integer('Number of records of a page; null for the default.', { min: 1, max: 1_000, optional: true }),
    ownerId: member('Person who saved the view.', {
      optional: true,
      immutable: true,
      onLeave: 'cascade',
      creator: true,
      reverse: 'savedViews',
    }),
  },
  unique: [
    {
      fields: ['organizationId', 'ownerId', 'recordKind', 'name'],
      comparedAsName: 'name',
      message: 'You have a view of these records with this name.',
    },
  ],
  describesList: viewFields,
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(related('owner', 'viewer')), deny(anyone)],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member'))],
    edit: [allow(system), allow(related('owner'))],
    remove: [allow(system), allow(related('owner'))],
  },
  expose: {
    name: 'read-write',
    recordKind: 'read-write',
    visibility: 'read-write',
    filter: 'read-write',
    orderBy: 'read-write',
    columns: 'read-write',
    pageSize: 'read-write',
    ownerId: 'read',
  },
  filter: ['name', 'recordKind', 'visibility', 'ownerId'],
  order: ['name', 'createdAt'],
  search: ['name'],
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
