import { Type } from 'typebox';
import { companions, type Companion } from '../kit/behaviours/companions.ts';
import { laterRemoval } from '../kit/behaviours/later-removal.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { reachable } from '../kit/model/behaviours/reachable.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { flag, reference, singleLine, text } from '../kit/model/fields.ts';
import { maxHierarchyDepth } from '../kit/model/hierarchy.ts';
import { allow, deny, anyone, memberOf, roleIn, system } from '../kit/model/policy.ts';
import { managerRoles } from '../presets/roles.ts';
import { workflowExamples } from '../presets/workflow-examples.ts';

const notBefore = Type.String({ description: 'Earliest time of the deletion (RFC 3339).' });

const userIds = Type.Array(Type.String(), {
  description:
    'Ids of the people who are notified: owners, admins and super administrators, and owners of the organizations below it.',
});

const delayS = Type.Integer({
  minimum: 0,
  description: 'Seconds for which mails about it wait: those of many organizations are spread.',
});

/** A group whose members the server keeps (groups/group-membership.ts). There is nobody with whom to share a personal organization. */
function managedGroup(managedAs: string, name: string, description: string): Companion<'isPersonal' | 'parentId'> {
  return {
    kind: 'group',
    record: 'organizationId',
    values: { name, description, managedAs },
    when: { isPersonal: false },
    companions: [
      { kind: 'groupSetting', record: 'groupId', values: { visibility: 'public', joinPolicy: 'invite_only' } },
    ],
  };
}

function exampleOfWorkflow(values: (typeof workflowExamples)[number]): Companion<'isPersonal'> {
  const when = { isPersonal: false };
  return { kind: 'workflowDefinition', record: 'organizationId', values, whileOn: 'hasWorkflows', when };
}

export const organization = defineEntityModule({
  kind: 'organization',
  table: 'organizations',
  description: 'Tenant: all data of a customer belongs to one organization.',
  fields: {
    name: singleLine('Name; unique among the organizations that one user created.', {
      max: 160,
      min: 3,
      exposed: 'read-write',
      lists: ['filter', 'order', 'search'],
    }),
    displayName: text('Display name; falls back to the name when empty.', {
      max: 160,
      optional: true,
      exposed: 'read-write',
      lists: ['filter', 'search'],
    }),
    description: text('Description of the organization.', {
      max: 2_000,
      lines: true,
      optional: true,
      exposed: 'read-write',
    }),
    parentId: reference('organization', 'Parent organization; its roles also apply in this organization.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      requires: 'edit',
      reverse: 'children',
      exposed: 'read',
      lists: ['filter'],
      changedElsewhere: 'it is given when the organization is created',
    }),
    founderId: text('Id of the user who created the organization; null if the server did.', {
      max: 26,
      optional: true,
      immutable: true,
    }),
    isPersonal: flag('Whether the organization was created at sign-up for one user.', {
      default: false,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    isArchived: flag(
      'Whether all changes in the organization are refused until this is taken back. People can leave it, what admits people or programs can be deleted, and its deletion can be announced.',
      { default: false, exposed: 'read-write', lists: ['filter'] },
    ),
  },
  // Not unique among all: a refusal would reveal to everybody which organizations exist.
  unique: [
    {
      fields: ['founderId', 'name'],
      comparedAsName: 'name',
      message: 'You already created an organization with this name.',
    },
  ],
  indexes: [['name']],
  tenancy: { none: 'the organization is the tenant' },
  behaviours: [
    reachable({
      rlsUsing: `exists (select 1 from memberships m where m.organization_id = organizations.id
    and m.user_id = $user and m.deleted_at is null)`,
      rlsWithCheck: 'id = $organization',
      confinedReach: 'organization',
    }),
    decidesCallers({ of: 'id', by: ['parentId', 'founderId'] }),
    guarded({ deletionNeedsProof: true }),
    laterRemoval({
      kind: 'organizationRemoval',
      fields: { id: 'removedOrganizationId', name: 'organizationName', person: 'requesterId' },
      atOnce: [
        'membership',
        'invite',
        'identityProvider',
        'supportConsent',
        'delegation',
        'apiToken',
        'webhookEndpoint',
        'organizationModule',
        'organizationSetting',
      ],
      forGood: ['invite', 'supportConsent', 'delegation'],
      announcedBy: {
        organizationSetting: ['markedForDeletionAt', 'deletionNotBefore', 'deletionNotice', 'deletionRequesterId'],
      },
      note: 'The organizations below it are deleted as well, also those with other owners. Contents are removed by a workflow; organization removals report its progress.',
    }),
    refusesChanges([
      {
        refuseIf: `row.parent_id is not null and (row.is_personal
        or exists (select 1 from organizations p where p.id = row.parent_id and p.is_personal))`,
        field: 'parentId',
        code: 'permission_denied',
        message: 'A personal organization has neither a parent nor children.',
      },
      {
        refuseIf: `exists (select 1 from organizations p where p.id = row.parent_id and p.is_archived)`,
        field: 'parentId',
        code: 'organization_archived',
        message: 'The parent organization is archived; take that back first.',
      },
      {
        // Counted here, because callers do not see all organizations above.
        refuseIf: `row.parent_id is not null and (with recursive above as (
          select o.parent_id, 1 as level from organizations o where o.id = row.parent_id and o.deleted_at is null
          union all select o.parent_id, above.level + 1 from organizations o join above on o.id = above.parent_id
            where o.deleted_at is null and above.level < ${maxHierarchyDepth}
        ) select max(level) from above) >= ${maxHierarchyDepth}`,
        field: 'parentId',
        code: 'rule_violated',
        message: `The Organization would lie deeper than ${maxHierarchyDepth} levels.`,
      },
      {
        on: ['remove'],
        unlessSystem: true,
        refuseIf: 'row.is_personal',
        field: 'isPersonal',
        code: 'permission_denied',
        message: 'A personal organization is deleted together with the account; see DELETE /v1/account.',
      },
      {
        on: ['edit'],
        refuseIf: 'row.is_personal and given.is_archived',
        field: 'isArchived',
        code: 'permission_denied',
        message: 'A personal organization cannot be archived.',
      },
    ]),
    companions([
      { kind: 'organizationSetting', record: 'organizationId' },
      { kind: 'organizationBilling', record: 'organizationId', when: { isPersonal: false, parentId: null } },
      { kind: 'entityType', record: 'organizationId', forEach: { list: 'entityTypes', field: 'name' } },
      managedGroup('admins', 'Admins', 'Everybody who manages the organization.'),
      managedGroup('viewers', 'Viewers', 'Everybody who does not manage the organization.'),
      managedGroup('all_members', 'All Members', 'Everybody in the organization.'),
      ...workflowExamples.map(exampleOfWorkflow),
    ]),
  ],
  policy: {
    view: [allow(system), allow(memberOf('id')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(roleIn('id', ...managerRoles))],
    remove: [allow(system), allow(roleIn('id', 'owner'))],
  },
  mutate: ['update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    ready: {
      description: 'The initial content of a new organization exists.',
      payload: payload({ tasks: Type.Integer({ description: 'Number of tasks that suggest what to do first.' }) }),
    },
    marked_for_deletion: {
      description:
        'An organization was marked for deletion, because nobody pays for it or because an owner announced it.',
      payload: payload({ notBefore, userIds, delayS }),
    },
    deletion_nearing: {
      description: 'A marked organization is deleted soon.',
      payload: payload({
        notBefore,
        userIds,
        delayS,
        notice: Type.Union([Type.Literal('three_days'), Type.Literal('one_day')], {
          description: 'How long before.',
        }),
      }),
    },
    spared: {
      description: 'A mark was removed: the organization is not deleted.',
      payload: payload({
        reason: Type.String({
          description:
            'Why: `payment_method`, `subscription`, `trial`, `grant`, `operator`, `bypass` for an exempt domain, `withdrawn` by an owner, or `requester_left` when the person who announced the deletion is no owner any more.',
        }),
      }),
    },
  },
});
