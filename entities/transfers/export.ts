import { describesList } from '../kit/behaviours/describes-list.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { announced } from '../kit/model/behaviours/announced.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
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
    format: choice('Format of the document.', ['csv', 'json'], {
      default: 'csv',
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    fields: {
      ...textList('Fields of each record, in this order; empty for all that an import needs.', {
        max: 64,
        maxItems: 100,
        exposed: 'read-write',
      }),
      immutable: true,
      naming: 'fields',
    },
    filters: listFilter('Only records that match: the `where` of the list in GraphQL, with enum values in any case.', {
      immutable: true,
      exposed: 'read-write',
    }),
    orderBy: {
      ...textList(
        'Fields by which the records are sorted, with a minus before those in descending order; then by id.',
        { max: 65, maxItems: 5, exposed: 'read-write' },
      ),
      immutable: true,
      naming: 'fields',
    },
    status: choice('Status of the work; expired: the document was removed.', [...transferStatuses, 'expired'], {
      default: 'pending',
      exposed: 'read',
      lists: ['filter'],
    }),
    content: file('The document, once it is complete, until it expires.', {
      accept: 'export',
      maxSizeMb: 102_400,
      optional: true,
      exposed: 'read',
    }),
    expiresAt: timestamp('When the document is removed.', { optional: true, exposed: 'read' }),
    ...transferFields('written'),
  },
  // Exports that have expired, over all organizations (expire-exports.sweep.ts).
  indexes: [['status', 'expiresAt']],
  tenancy: 'organization',
  behaviours: [
    announced({ by: managerRoles }),
    guarded({
      // The work continues when the access as another user has ended.
      closedToDelegates: 'changes',
    }),
    describesList({ kind: 'recordKind', fields: 'fields', filter: 'filters', orderBy: 'orderBy' }),
    refusesChanges([refusedBeyondLimit('exports')]),
  ],
  policy: requestedRecord(),
  mutate: ['create', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: transferEvents,
  grants: [
    { object: { kind: 'export', id: 'id' }, relation: 'requestor', subject: { kind: 'user', id: 'requestorId' } },
  ],
});

export { exportKind as export };
