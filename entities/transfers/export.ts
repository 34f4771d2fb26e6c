import { defineEntityModule } from '../kit/model/define.ts';
import { listFilter } from '../kit/model/composed/list-filter.ts';
import { choice, textList, timestamp } from '../kit/model/fields.ts';
import { file } from '../kit/model/composed/file-field.ts';
import { requestedRecord } from '../presets/requested-record.ts';
import {
  recordKindField,
  refusedBeyondLimit,
  transferEvents,
  transferFields,
  transferStatuses,
} from './transfer-fields.ts';
import { managerRoles } from '../presets/roles.ts';

const exportKind = defineEntityModule({
  kind: 'export',
  table: 'exports',
  description:
    'Document with records of one kind, which the server writes page by page with the rights that the person or API token has at the time of each page.',
  fields: {
    recordKind: recordKindField,
    format: choice('Format of the document.', ['csv', 'json'], { default: 'csv', immutable: true }),
    fields: {
      ...textList('Fields of each record, in this order; empty for all that an import needs.', {
        max: 64,
        maxItems: 100,
      }),
      immutable: true,
      naming: 'fields',
    },
    filters: listFilter('Only records that match: the `where` of the list in GraphQL, with enum values in any case.', {
      immutable: true,
    }),
    orderBy: {
      ...textList(
        'Fields by which the records are sorted, with a minus before those in descending order; then by id.',
        {
          max: 65,
          maxItems: 5,
        },
      ),
      immutable: true,
      naming: 'fields',
    },
    status: choice('Status of the work; expired: the document was removed.', [...transferStatuses, 'expired'], {
      default: 'pending',
    }),
    content: file('The document, once it is complete, until it expires.', {
      accept: 'export',
      maxSizeMb: 102_400,
      optional: true,
    }),
    expiresAt: timestamp('When the document is removed.', { optional: true }),
    ...transferFields('written'),
  },
  tenancy: 'organization',
  describesList: { kind: 'recordKind', fields: 'fields', filter: 'filters', orderBy: 'orderBy' },
  policy: requestedRecord(),
  refusals: [refusedBeyondLimit('exports')],
  expose: {
    recordKind: 'read-write',
    format: 'read-write',
    fields: 'read-write',
    filters: 'read-write',
    orderBy: 'read-write',
    status: 'read',
    doneRows: 'read',
    totalRows: 'read',
    errorCode: 'read',
    errorMessage: 'read',
    content: 'read',
    finishedAt: 'read',
    expiresAt: 'read',
    requestorId: 'read',
  },
  filter: ['recordKind', 'format', 'status'],
  order: ['createdAt'],
  mutate: ['create', 'delete'],
  // The work continues when the access as another user has ended.
  closedToDelegates: 'changes',
  events: ['created', 'updated', 'deleted'],
  announced: { by: managerRoles },
  customEvents: transferEvents,
  grants: [
    { object: { kind: 'export', id: 'id' }, relation: 'requestor', subject: { kind: 'user', id: 'requestorId' } },
  ],
});

export { exportKind as export };
