import { Type, type Static } from 'typebox';
import { actionsOn, type WorkOperation } from '#runtime/work-repairs.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import {
  workKinds,
  workOfInstallation,
  workPosition,
  type FailingWork,
  type WorkKind,
} from '../../webhooks/installation-work.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { askedByOperator } from './as-operator.ts';
import {
  instant,
  line,
  nullable,
  ofOrganization,
  organizationPart,
  pageParts,
  ReasonSchema,
} from './delivery-schemas.ts';

const common = { access: 'required', tag: 'Operations' } as const;

const kind = Type.Unsafe<WorkKind>({
  type: 'string',
  enum: [...workKinds],
  description:
    'Kind of the work. delivery: an event to a listener; message: messages to an endpoint; schedule: recurring work of the server.',
});

const WorkSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the work, for retry and stop.' }),
    kind,
    status: Type.String({
      enum: ['failing', 'held', 'failed'],
      description:
        'failing: it is tried again; held: it waits for other work that fails; failed: it is not tried again.',
    }),
    ...ofOrganization,
    record_id: nullable('string', 'Id of the record; null if there is none, or several.'),
    request_id: nullable('string', 'Id of the request that caused the work; null for none.'),
    attempts: nullable('integer', 'Number of failed attempts; null where they are not counted.'),
    error: Type.String({ description: 'Reason why the last attempt failed, in short.' }),
    since: instant('When it began to fail.'),
    next_attempt_at: nullable(
      'string',
      'When it is tried again; null if it is not tried again, or the time is unknown.',
      {
        format: 'date-time',
      },
    ),
    retry: nullable('string', 'Effect of retry; null when it cannot be retried.'),
    stop: nullable('string', 'Effect of stop; null when it cannot be stopped.'),
    workflow_type: nullable('string', 'Type of its workflow; null for none of its own.'),
    workflow_id: nullable('string', 'Id of its workflow.'),
    activity: nullable('string', 'Type of the activity that fails; null when the workflow as a whole has failed.'),
    url: nullable('string', 'Its run in the Temporal UI; null unless TEMPORAL_UI_URL is set.'),
    position: Type.String({ description: 'Position of the item: `after` of the next page.' }),
  },
  { title: 'FailingWork' },
);

const params = Type.Object({ id: line('Id of the work.') });

/** Work that fails or waits in the installation, for its operators; `npm run work` does the same. */
export const workRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/operations/work',
    operationId: 'listWork',
    summary: 'List work that fails or waits',
    description:
      'Deliveries of events, messages to endpoints, notifications, e-mails, exports, imports, work with files, removals of organizations and schedules that keep failing (from the fifth attempt on) or have failed, the newest first. For operators of the installation, who have a second factor.',
    query: Type.Object(
      { kind: Type.Optional(kind), ...organizationPart, ...pageParts },
      { additionalProperties: false },
    ),
    answers: { 200: Type.Object({ data: Type.Array(WorkSchema) }) },
    errors: ['second_factor_required', 'limit_exceeded'],
    handle: (call) =>
      inSnakeCase(async () => {
        const { organization_id: organizationId, ...page } = call.query as PageQuery;
        const found = await workOfInstallation(call, { ...page, organizationId });
        return { status: 200, body: { data: found.map((work) => shownWork(work, call.services)) } };
      }),
  }),
  repairOf(
    'retry',
    'Retry work',
    'Tries work again immediately. The field `retry` of the work states the effect; null: it cannot be retried.',
  ),
  repairOf(
    'stop',
    'Stop work',
    'Gives work up. The field `stop` of the work states the effect; null: it cannot be stopped.',
  ),
];

function repairOf(operation: WorkOperation, summary: string, description: string): Route {
  return defineRoute({
    ...common,
    // It asks Temporal, after its transaction.
    runsOnce: true,
    method: 'POST',
    url: `/v1/operations/work/:id/${operation}`,
    operationId: `${operation}Work`,
    summary,
    description: `${description} For operators of the installation with a proof of the last ten minutes.`,
    params,
    body: ReasonSchema,
    answers: {
      202: Type.Object({
        id: Type.String({ description: 'Id of the work.' }),
        done: Type.String({ description: 'Operation that was done.' }),
      }),
    },
    errors: ['second_factor_required', 'step_up_required', 'not_found', 'rule_violated', 'workflows_unavailable'],
    handle: async (call: Call<Static<typeof ReasonSchema>>) => {
      const id = call.params['id'] ?? '';
      const asked = await askedByOperator(call);
      return { status: 202, body: { id, done: await call.services.workRepairs.do(operation, id, asked) } };
    },
  });
}

interface PageQuery {
  readonly kind?: WorkKind;
  readonly organization_id?: string;
  readonly after?: string;
  readonly first?: number;
}

function shownWork(work: FailingWork, { runUrl }: Pick<Services, 'runUrl'>) {
  const { workflowId, runId } = work;
  return {
    id: work.id,
    kind: work.kind,
    status: work.status,
    organization_id: work.organizationId,
    record_id: work.recordId,
    request_id: work.requestId,
    attempts: work.attempts,
    error: work.error,
    since: work.since,
    next_attempt_at: work.nextAttemptAt,
    ...actionsOn(work),
    workflow_type: work.workflowType,
    workflow_id: workflowId,
    activity: work.activity,
    url: workflowId !== null && runId !== null ? runUrl({ workflowId, runId }) : null,
    position: workPosition(work),
  };
}
