import { Type } from 'typebox';
import { roles } from '../kit/model/caller.ts';
import { givesRole } from '../kit/behaviours/gives-role.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { announced } from '../kit/model/behaviours/announced.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, email, integer, member, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { managerRoles } from '../presets/roles.ts';

const day = 86_400_000;

/** Lifetime of an invitation after each request to send it, in milliseconds. */
export const inviteLifetimeMs = 14 * day;

/** Number of times that the e-mail of an invitation can be sent again. */
export const maxResends = 6;

/** Statuses of an invitation that can still be accepted. */
export const openStatuses: readonly string[] = ['pending', 'sent'];

/**
 * The token of its link is not stored: it is derived from the id and `round` with a secret key of the server, so a copy of the table
 * lets nobody in, and sending the mail again makes the links before it void.
 */
export const invite = defineEntityModule({
  kind: 'invite',
  table: 'invites',
  description:
    'Invitation to join an organization. Creating it sends an e-mail with a link that accepts or declines it.',
  fields: {
    recipient: email('E-mail address of the invited person.', {
      immutable: true,
      checked: true,
      exposed: 'read-write',
      lists: ['filter', 'search'],
    }),
    role: choice('Role granted on acceptance; not above the role of the inviter.', roles, {
      default: 'member',
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
      needsProof: ['owner'],
    }),
    status: choice(
      'Status of the invitation; pending until an e-mail has been sent.',
      ['pending', 'sent', 'accepted', 'declined', 'expired', 'withdrawn'],
      { default: 'pending', exposed: 'read', lists: ['filter'] },
    ),
    sendAttempts: integer('Number of e-mails sent.', { min: 0, max: 100, default: 0, exposed: 'read' }),
    expiresAt: timestamp('When the invitation expires: 14 days after it was last requested.', {
      optional: true,
      exposed: 'read',
      lists: ['order'],
    }),
    inviterId: member('Person who last requested the invitation.', {
      optional: true,
      creator: true,
      onLeave: 'keep',
      exposed: 'read',
    }),
    activeRecipient: email(
      '`recipient` while the invitation is open; null afterwards: the address can be invited again.',
      {
        optional: true,
      },
    ),
    round: integer('1 at first; greater by 1 each time the e-mail is requested again.', {
      min: 1,
      max: maxResends + 1,
      default: 1,
    }),
    sentRound: integer('`round` of the last e-mail that was sent; 0 for none.', {
      min: 0,
      max: maxResends + 1,
      default: 0,
    }),
  },
  unique: [
    {
      fields: ['organizationId', 'activeRecipient'],
      names: 'recipient',
      message:
        'This address is already invited; send the invitation again (POST /v1/invites/{id}/resend), or withdraw it first (…/withdraw).',
    },
  ],
  tenancy: 'organization',
  policy: managedRecord(),
  behaviours: [
    announced({ by: managerRoles }),
    guarded({
      // A person who accepts keeps the rights of the invitation. Tokens invite within limits (`givesRole`).
      closedToDelegates: true,
    }),
    givesRole({ field: 'role' }),
    refusesChanges([
      {
        refuseIf: `exists (select 1 from organizations o where o.id = row.organization_id and o.is_personal)`,
        field: 'organizationId',
        code: 'permission_denied',
        message: 'Nobody can join a personal organization; create an organization and invite people there.',
      },
      {
        refuseIf: `exists (select 1 from memberships m join users u on u.id = m.user_id where m.organization_id = row.organization_id
        and u.email = row.recipient and m.deleted_at is null and u.deleted_at is null)`,
        field: 'recipient',
        code: 'already_exists',
        message: 'The person with this address is already a member.',
      },
    ]),
  ],
  mutate: ['create', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    resent: {
      description: 'Somebody asked to send the e-mail of an invitation again.',
      payload: payload({ round: Type.Integer({ description: '`round` of the record.' }) }),
    },
    accepted: { description: 'The invited person joined the organization.', payload: payload({}) },
  },
  hooks: {
    derivedValues: ({ recipient, status }, { operation, at }) => {
      if (operation === 'create')
        return { activeRecipient: recipient ?? null, expiresAt: new Date(at.getTime() + inviteLifetimeMs) };
      return status === undefined || openStatuses.includes(status) ? {} : { activeRecipient: null };
    },
  },
});
