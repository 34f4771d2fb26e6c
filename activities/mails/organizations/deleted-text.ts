import type { RowOf } from '#entities/kit/model/define.ts';
import type { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { sample, type MailContext } from '../define-mail.ts';
import { shownName } from '../shown-name.ts';

interface Deleted {
  readonly name: string;
  readonly isAnnounced: boolean;
}

export function nameOfDeleted({ record }: MailContext<RowOf<typeof organizationRemoval>>): Deleted {
  return {
    name: shownName(record.organizationName) ?? 'Your organization',
    isAnnounced: record.requesterId !== null,
  };
}

export function deletedText({ name, isAnnounced }: Deleted) {
  return {
    subject: 'An organization was deleted',
    paragraphs: [
      `${name} was deleted, with all organizations below it, ${isAnnounced ? 'as an owner had announced' : 'because nobody has paid for it'}.`,
      'Its records are removed now. If this is a mistake, reply to our support within a week.',
    ],
  };
}

export const deletedSample: Deleted = { name: sample.organization, isAnnounced: false };
