import { idPattern } from '../kit/base/ids.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, reference, text } from '../kit/model/fields.ts';
import { allow, anyone, deny, scope, scopeGivenBy, system, through } from '../kit/model/policy.ts';
import { owners } from '../presets/roles.ts';

/** The latest verdict on a file applies. Another content is another file, and needs a verdict of its own. */
export const fileVerdict = defineEntityModule({
  kind: 'fileVerdict',
  table: 'file_verdicts',
  description: 'Verdict of a scanner on one stored file. The latest one applies.',
  fields: {
    objectId: text(
      'Id of the stored file on which the verdict is: `id` of a StoredFile, not of the record that has it.',
      {
        max: 26,
        pattern: idPattern,
        immutable: true,
      },
    ),
    verdict: choice('Result of the scanner.', ['clean', 'infected'], { immutable: true }),
    scanner: text('Name and version of the scanner.', { max: 255, immutable: true }),
    details: text('Finding, in words of the scanner.', {
      max: 4_000,
      lines: true,
      optional: true,
      immutable: true,
    }),
    fileId: reference('file', 'File of the organization that has the stored file; null for another kind of record.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      reverse: 'verdicts',
    }),
    taskFileId: reference('taskFile', 'File of a task that has the stored file; null for another kind of record.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      reverse: 'verdicts',
    }),
  },
  tenancy: 'organization',
  policy: {
    view: [
      allow(system),
      allow(owners),
      allow(scope),
      allow(through('fileId')),
      allow(through('taskFileId')),
      deny(anyone),
    ],
    // People do not declare files clean; owners decide which programs do.
    create: [allow(system), allow(scopeGivenBy('owner', 'super_admin'))],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  expose: {
    objectId: 'read-write',
    verdict: 'read-write',
    scanner: 'read-write',
    details: 'read-write',
    fileId: 'read',
    taskFileId: 'read',
  },
  filter: ['objectId', 'verdict', 'fileId', 'taskFileId'],
  order: ['createdAt'],
  mutate: ['create'],
  events: ['created'],
  verdictOn: { object: 'objectId', verdict: 'verdict' },
});
