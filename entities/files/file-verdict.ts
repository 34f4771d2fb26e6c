import { idPattern } from '../kit/base/ids.ts';
import { givesVerdicts } from '../kit/behaviours/gives-verdicts.ts';
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
      { max: 26, pattern: idPattern, immutable: true, exposed: 'read-write', lists: ['filter'] },
    ),
    verdict: choice('Result of the scanner.', ['clean', 'infected'], {
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    scanner: text('Name and version of the scanner.', { max: 255, immutable: true, exposed: 'read-write' }),
    details: text('Finding, in words of the scanner.', {
      max: 4_000,
      lines: true,
      optional: true,
      immutable: true,
      exposed: 'read-write',
    }),
    fileId: reference('file', 'File of the organization that has the stored file; null for another kind of record.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      reverse: 'verdicts',
      exposed: 'read',
      lists: ['filter'],
    }),
    taskFileId: reference('taskFile', 'File of a task that has the stored file; null for another kind of record.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      reverse: 'verdicts',
      exposed: 'read',
      lists: ['filter'],
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
  mutate: ['create'],
  events: ['created'],
  behaviours: [givesVerdicts({ object: 'objectId', verdict: 'verdict' })],
});
