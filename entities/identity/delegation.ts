import { Type } from 'typebox';
import { idPattern } from '../kit/base/ids.ts';
import { delegationTypes } from '../kit/model/caller.ts';
import { announced } from '../kit/model/behaviours/announced.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, text, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, role, system } from '../kit/model/policy.ts';
import { managerRoles, managers } from '../presets/roles.ts';

/**
 * The record is the access: the token names it, and SQL function `delegation_context` reads it with each request. So there is no access
 * that is not on record.
 */
export const delegation = defineEntityModule({
  kind: 'delegation',
  table: 'delegations',
  description:
    'Access of a person who acts in the organization as another user, for at most an hour: support, or a manager who acts as a member. It cannot be deleted; an access that has ended stays on record.',
  fields: {
    type: choice('Support access, or impersonation of a member by a manager.', delegationTypes, {
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    reason: text('Reason of the access, as stated by the person who acts.', {
      min: 10,
      max: 250,
      lines: true,
      immutable: true,
      exposed: 'read',
    }),
    actorId: text('Id of the person who acts, or of the support identity.', {
      max: 26,
      immutable: true,
      exposed: 'read',
    }),
    actorName: text('Name of the person who acts, or of the support identity.', {
      max: 128,
      immutable: true,
      exposed: 'read',
    }),
    actorEmail: text('Address of the person who acts; for support, the one that completed the second factor.', {
      max: 254,
      immutable: true,
      exposed: 'read',
    }),
    subjectId: text('Id of the member as whom the person acts; for support, the support identity.', {
      max: 26,
      pattern: idPattern,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    actorMembershipId: text(
      'Id of the membership that gives the person who acts the role for it: the access ends with it; null for support.',
      { max: 26, optional: true, immutable: true },
    ),
    subjectMembershipId: text(
      'Id of the membership of the member as whom the person acts: the access ends with it; null for support.',
      { max: 26, optional: true, immutable: true },
    ),
    sessionId: text('Id of the session from which it began, with which it ends; null for support.', {
      max: 26,
      optional: true,
      immutable: true,
    }),
    consentId: text('Id of the consent of the organization, with which it ends; null for impersonation.', {
      max: 26,
      optional: true,
      immutable: true,
    }),
    address: text('Network address that the token was given to.', { max: 64, immutable: true, exposed: 'read' }),
    expiresAt: timestamp('When it ends unless it is ended before.', {
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    endedAt: timestamp('When it was ended before its time; null if nobody has ended it.', {
      optional: true,
      exposed: 'read',
    }),
  },
  tenancy: 'organization',
  behaviours: [
    decidesCallers({
      of: 'id',
      by: [
        'type',
        'actorId',
        'actorName',
        'subjectId',
        'sessionId',
        'consentId',
        'expiresAt',
        'endedAt',
        'actorMembershipId',
        'subjectMembershipId',
      ],
    }),
    announced({ by: managerRoles }),
    guarded({ needsSession: true }),
  ],
  policy: {
    view: [allow(system), allow(managers), allow(role('auditor')), deny(anyone)],
    create: [allow(system)],
    // To end it (api/rest/identity/delegations/end-delegation.ts).
    edit: [allow(system), allow(managers)],
    remove: [allow(system)],
  },
  events: ['created', 'updated'],
  customEvents: {
    begun: {
      description: 'Support, or a manager who acts as a member, has begun to act in the organization.',
      payload: payload({
        type: Type.Enum(delegationTypes, { description: 'Support access or impersonation.' }),
        subjectId: Type.String({
          description: 'Id of the member as whom the manager acts, or of the support identity.',
        }),
      }),
    },
  },
});
