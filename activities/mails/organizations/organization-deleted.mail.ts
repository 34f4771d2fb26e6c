import { on } from '#entities/kit/model/events.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { aboutRecord } from '../audience.ts';
import { defineMail } from '../define-mail.ts';
import { deletedSample, deletedText, nameOfDeleted } from './deleted-text.ts';

/** After the server has deleted an organization: nobody has paid for it, or an owner had announced it. */
export const organizationDeletedMail = defineMail('organization-deleted', {
  listener: 'mail-organization-deleted',
  follows: [on(organizationRemoval, 'announced')],
  audience: (occasion) => occasion.event.payload.userIds.map((userId) => aboutRecord(occasion, userId)),
  priority: 3,
  about: organizationRemoval,
  values: nameOfDeleted,
  text: deletedText,
  sample: deletedSample,
});
