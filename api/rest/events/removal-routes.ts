import { Type } from 'typebox';
import { isId } from '#entities/kit/base/ids.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { listRemovals } from '#entities/organizations/organization-removal-rows.ts';
import { requireOperator } from '../../credentials/required-operator.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { pageSlice } from '../../http/response/page-slice.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { instant, nullable, pageParts } from './delivery-schemas.ts';

const RemovalSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the removal.' }),
    organization_id: Type.String({ description: 'Id of the deleted organization.' }),
    organization_name: Type.String({ description: 'Name that the organization had.' }),
    requester_id: nullable('string', 'Id of the person who deleted the organization; null if the server did.'),
    status: Type.String({ enum: ['pending', 'running', 'completed'], description: 'Status of the removal.' }),
    total_records: nullable('integer', 'Number of records to remove; null until the removal has begun.'),
    removed_records: Type.Integer({ description: 'Number of records that are removed.' }),
    created_at: instant('When the organization was deleted.'),
    completed_at: nullable('string', 'When the last record was removed; null before.', { format: 'date-time' }),
    work_id: nullable('string', 'Id of the failing work that delays the removal, for retry and stop; null for none.'),
    failing_step: nullable('string', 'Type of the activity that fails; null for none.'),
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
];
