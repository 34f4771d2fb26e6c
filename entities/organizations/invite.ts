import { defineEntityModule } from '../kit/model/define.ts';
import { choice, email, integer, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';

export const invite = defineEntityModule({
  kind: 'invite',
  table: 'invites',
  description: 'Invitation to join an organization.',
  fields: {
    recipient: email('E-mail address of the invited person.', { immutable: true }),
    role: choice('Role granted on acceptance.', ['admin', 'member', 'auditor'], { default: 'member' }),
    status: choice(
      'Status of the invitation; pending until an e-mail has been sent.',
      ['pending', 'sent', 'accepted', 'expired', 'withdrawn'],
      { default: 'pending' },
    ),
    sendAttempts: integer('Number of e-mails sent.', { min: 0, max: 100, default: 0 }),
    expiresAt: timestamp('When the invitation expires.', { optional: true }),
  },
  unique: [{ fields: ['organizationId', 'recipient'], message: 'This address is already invited.' }],
  tenancy: 'organization',
  policy: managedRecord(),
  expose: { recipient: 'read-write', role: 'read-write', status: 'read', sendAttempts: 'read', expiresAt: 'read' },
  filter: ['recipient', 'role', 'status'],
  order: ['expiresAt', 'createdAt'],
  search: ['recipient'],
  mutate: ['create', 'update', 'delete'],
  // Who is invited may get more rights than the token that invites has.
  needsSession: true,
  events: ['created', 'updated', 'deleted'],
});
