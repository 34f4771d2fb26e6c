import { onceForEach } from '../../base/once-for-each.ts';
import type { Caller } from '../caller.ts';
import type { EntityModule } from '../define.ts';
import type { FileRule } from './accepted-types.ts';
import type { Field } from '../declared-field.ts';
import { mayAll } from '../policy.ts';
import type { Registry } from '../registry.ts';

export interface FileField {
  readonly name: string;
  readonly field: Field;
  readonly rule: FileRule;
}

export const fileFieldsOf = onceForEach(({ fields }: EntityModule): readonly FileField[] =>
  Object.entries(fields).flatMap(([name, field]) => (field.file ? [{ name, field, rule: field.file }] : [])),
);

/** Values of a file in responses, by column of `stored_objects`. Where its bytes are is for the server alone. */
export const fileValues = {
  id: 'Id of the file; a file that replaces it has another one.',
  name: 'Name of the file.',
  contentType: 'Media type (MIME type) that the content has.',
  sizeBytes: 'Size in bytes.',
  sha256: 'SHA-256 of the content, in hexadecimal digits.',
  availability: 'Whether the content can be downloaded.',
} as const;

/** Whether a file can be downloaded, with the reason. The SQL function `file_availability` decides it. */
export const availabilities = {
  available: 'It can be downloaded.',
  awaiting_verdict:
    'It is withheld until a scanner has found it clean, because the organization requires this (`filesNeedVerdict`).',
  infected: 'It is withheld because a scanner has found it infected.',
} as const;

export type Availability = keyof typeof availabilities;

/** Whether the content of a file is withheld from a caller. Callers who give verdicts need the content for them. */
export function isWithheld(availability: Availability, caller: Caller, { modules }: Registry): boolean {
  if (availability === 'available') return false;
  return !modules.some(
    ({ kind, policy, behaviours = [] }) =>
      behaviours.some(({ verdicts }) => verdicts) && mayAll(policy, caller, { kind, operation: 'create' }),
  );
}

export type FileValue = keyof typeof fileValues;

export const fileValueNames = Object.keys(fileValues) as readonly FileValue[];
