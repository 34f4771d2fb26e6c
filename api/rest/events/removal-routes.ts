import { Type, type Static } from 'typebox';
import { undeleteOrganization } from '#runtime/undelete-organization.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { listRemovals } from '#entities/organizations/organization-removal-rows.ts';
import { requireOperator } from '../../credentials/required-operator.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { pageSlice } from '../../http/response/page-slice.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { askedByOperator } from './as-operator.ts';
import { instant, nullable, pageParts, ReasonSchema } from './delivery-schemas.ts';

const RemovalSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the removal.' }),
    organization_id: Type.String({ description: 'Id of the deleted organization.' }),
    organization_name: Type.String({ description: 'Name that the organization had.' }),
    requester_id: nullable('string', 'Id of the person who deleted the organization; null if the server did.'),
    status: Type.String({
      enum: ['pending', 'running', 'completed', 'undoing'],
      description: 'Status of the removal; undoing while the organization is restored.',
    }),
    open_steps: Type.Array(Type.String(), { description: 'Steps that have not ended; empty before the first begins.' }),
    skipped_steps: Type.Array(Type.String(), { description: 'Steps that operators have skipped.' }),
    total_records: nullable('integer', 'Number of records to remove; null until the removal has begun.'),
    removed_records: Type.Integer({ description: 'Number of records that are removed.' }),
    created_at: instant('When the organization was deleted.'),
    completed_at: nullable('string', 'When the last step ended; null before.', { format: 'date-time' }),
    work_id: nullable('string', 'Id of the failing work that delays the removal, for retry and stop; null for none.'),
    failing_step: nullable('string', 'Step that fails; null for none.'),
    error: nullable('string', 'Reason why its last attempt failed, in short.'),
  },
  { title: 'OrganizationRemovalOfInstallation' },
);

interface RemovalsQuery {
  readonly is_open?: boolean;
  readonly after?: string;
  readonly first?: number;
}

/** Removals of deleted organizations, for operators of the installation. */
export const removalRoutes: readonly Route[] = [
  defineRoute({
    access: 'required',
    tag: 'Operations',
    method: 'GET',
    url: '/v1/operations/removals',
    operationId: 'listAllRemovals',
    summary: 'List removals of organizations',
    description:
      'Removals of deleted organizations with their progress and the step that fails, the newest first. For operators of the installation, who have a second factor.',
    query: Type.Object(
      {
        is_open: Type.Optional(Type.Boolean({ description: 'Only removals that are not completed.' })),
        after: Type.Optional(idSchema('Id of the last removal of the previous page.')),
        first: pageParts.first,
      },
      { additionalProperties: false },
    ),
    answers: { 200: Type.Object({ data: Type.Array(RemovalSchema) }) },
    errors: ['second_factor_required', 'limit_exceeded'],
    handle: (call) =>
      inSnakeCase(async () => {
        await requireOperator(call);
        const { is_open: isOpen = false, after, first } = call.query as RemovalsQuery;
        const { size } = pageSlice({ first: first ?? null }, call.services.config.current.server.maxresultlimit);
        if (after !== undefined && !isId(after))
          throw inputError([{ path: '/after', message: 'must be the id of a removal' }]);
        const found = await listRemovals(call.unit, { isOpen, after, limit: size });
        const data = found.map((removal) => ({
          id: removal.id,
          organization_id: removal.organizationId,
          organization_name: removal.organizationName,
          requester_id: removal.requesterId,
          status: removal.status,
          open_steps: removal.openSteps,
          skipped_steps: removal.skippedSteps,
          total_records: removal.totalRecords,
          removed_records: removal.removedRecords,
          created_at: removal.createdAt,
          completed_at: removal.completedAt,
          work_id: removal.workId,
          failing_step: removal.failingStep,
          error: removal.error,
        }));
        return { status: 200, body: { data } };
      }),
  }),
  defineRoute({
    access: 'required',
    tag: 'Operations',
    // It has a transaction of its own, as the server.
    runsOnce: true,
    method: 'POST',
    url: '/v1/operations/removals/:id/undo',
    operationId: 'undoRemoval',
    summary: 'Undo the removal of an organization',
    description:
      'Restores a deleted organization within seven days, with those below it that were deleted with it: records, history, memberships and files. Credentials stay deleted: API tokens, secrets, identity providers, endpoints and receivers, invitations, delegations and consents; subscriptions stay cancelled. The removal is stopped, and its status is `undoing` until the organization is there. For operators of the installation with a proof of the last ten minutes.',
    params: Type.Object({ id: idSchema('Id of the removal.') }),
    body: ReasonSchema,
    answers: {
      202: Type.Object({
        id: Type.String({ description: 'Id of the removal.' }),
        organization_id: Type.String({ description: 'Id of the organization that is restored.' }),
        organizations: Type.Integer({ description: 'Number of organizations that are restored.' }),
      }),
    },
    errors: ['second_factor_required', 'step_up_required', 'not_found', 'rule_violated'],
    handle: async (call: Call<Static<typeof ReasonSchema>>) => {
      const asked = await askedByOperator(call);
      const which = { removalId: call.params['id'] ?? '' };
      const undone = await undeleteOrganization(call.services.database, which, asked);
      return {
        status: 202,
        body: { id: undone.removalId, organization_id: undone.organizationId, organizations: undone.organizations },
      };
    },
  }),
];
