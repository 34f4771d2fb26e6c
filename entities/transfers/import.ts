import { describesList } from '../kit/behaviours/describes-list.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { announced } from '../kit/model/behaviours/announced.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, integer, json } from '../kit/model/fields.ts';
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

const importKind = defineEntityModule({
  kind: 'import',
  table: 'imports',
  description:
    'CSV document from which the server creates or changes records of one kind: all of them or none, with the rights of the person or API token that started it.',
  fields: {
    recordKind: recordKindField,
    action: choice('Whether the document creates records, or changes those that its rows name.', ['create', 'update'], {
      default: 'create',
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    content: file('The document, in the format of `createBulkCSV…`.', {
      accept: 'import',
      maxSizeMb: 100,
      immutable: true,
      exposed: 'read-write',
    }),
    status: choice('Status of the work.', transferStatuses, { default: 'pending', exposed: 'read', lists: ['filter'] }),
    problems: json(
      'Problems of the document: up to 100 messages with line and column, in the order of the lines. Of a completed import, what is held until people approve it.',
      { maxBytes: 1_000_000, optional: true, exposed: 'read' },
    ),
    heldRows: integer(
      'Number of records of which a change is held until people approve it; null until the import has completed.',
      { min: 0, max: Number.MAX_SAFE_INTEGER, optional: true, exposed: 'read' },
    ),
    ...transferFields('checked or written'),
  },
  tenancy: 'organization',
  behaviours: [
    announced({ by: managerRoles }),
    guarded({
      // The work continues when the access as another user has ended.
      closedToDelegates: 'changes',
    }),
    describesList({ kind: 'recordKind', action: 'action' }),
    refusesChanges([refusedBeyondLimit('imports')]),
  ],
  policy: requestedRecord(),
  mutate: ['create', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: transferEvents,
  grants: [
    { object: { kind: 'import', id: 'id' }, relation: 'requestor', subject: { kind: 'user', id: 'requestorId' } },
  ],
});

export { importKind as import };
