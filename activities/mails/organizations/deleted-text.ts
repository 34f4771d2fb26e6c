import type { RowOf } from '#entities/kit/model/define.ts';
import type { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { sample, type MailContext } from '../define-mail.ts';
import { shownName } from '../shown-name.ts';

interface Deleted {
  readonly name: string;
}

export function nameOfDeleted({ record }: MailContext<RowOf<typeof organizationRemoval>>): Deleted {
  return { name: shownName(record.organizationName) ?? 'Your organization' };
}

export function deletedText({ name }: Deleted) {
  return {
    subject: 'An organization was deleted',
    paragraphs: [
      `${name} was deleted, with all organizations below it, because nobody has paid for it.`,
      'Its records are removed now. If this is a mistake, reply to our support within a week.',
    ],
  };
}

export const deletedSample: Deleted = { name: sample.organization };
