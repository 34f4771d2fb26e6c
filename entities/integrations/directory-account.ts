import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, json, reference, text, timestamp } from '../kit/model/fields.ts';
import { reportedRecord } from '../presets/reported-record.ts';

const name = (description: string) =>
  text(description, { max: 256, optional: true, exposed: 'read', lists: ['filter', 'order', 'search'] });

/** `waiting`: the person has no account here, the domain of the address is not proven, or another account gives the membership; a later pass tries again. */
const provisioningStatuses = ['none', 'waiting', 'member', 'ended', 'refused'] as const;

export const directoryAccount = defineEntityModule({
  kind: 'directoryAccount',
  table: 'directory_accounts',
  description: 'Account of a person in a directory, as the directory describes it.',
  fields: {
    integrationId: reference('integration', 'Integration of the directory.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: 'directoryAccounts',
      exposed: 'read',
      lists: ['filter'],
    }),
    externalId: text('Id of the account in the directory.', {
      max: 255,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    userName: name('Name with which the person signs in there.'),
    email: text('E-mail address, in lower case.', {
      max: 254,
      optional: true,
      exposed: 'read',
      lists: ['filter', 'order', 'search'],
    }),
    displayName: name('Name that is shown for the account.'),
    givenName: text('Given name.', { max: 256, optional: true, exposed: 'read' }),
    familyName: text('Family name.', { max: 256, optional: true, exposed: 'read' }),
    isActive: flag('Whether the person can sign in there.', { default: true, exposed: 'read' }),
    reference: text('Id that the system which pushes the account has given it (`externalId` of SCIM).', {
      max: 255,
      optional: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    attributes: json('Further attributes of the directory.', { maxBytes: 16_384, optional: true, exposed: 'read' }),
    userId: text('Id of the person of this server who has its address; null if there is none.', {
      max: 26,
      optional: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    membershipId: text('Id of the membership that the directory gave this person.', { max: 26, optional: true }),
    provisioning: choice(
      'Whether the account has made its person a member of the organization.',
      provisioningStatuses,
      {
        default: 'none',
        exposed: 'read',
        lists: ['filter'],
      },
    ),
    provisioningProblem: text('Why it has not, and what to do about it.', {
      max: 500,
      optional: true,
      exposed: 'read',
    }),
    provisionedAt: timestamp('When the decision about the membership last changed.', {
      optional: true,
    }),
  },
  unique: [{ fields: ['integrationId', 'externalId'], message: 'The directory has an account with this id already.' }],
  indexes: [
    { fields: ['email'], where: "provisioning = 'waiting'" },
    { fields: ['membershipId'], where: 'membership_id is not null' },
  ],
  tenancy: 'organization',
  policy: reportedRecord(),
  events: ['created', 'updated', 'deleted'],
});
