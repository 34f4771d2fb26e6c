import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { Type, type Static } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { defaultPerSecond, maxPerSecond, type RepairRequest } from '#runtime/event-repairs.ts';
import { requireOperator, requireProvenOperator } from '../../credentials/required-operator.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import { idSchema, idText, visibleText } from '../../http/request-schemas.ts';
import { asOperator } from './as-operator.ts';
import { GroupSchema, organizationPart, selectionOf, selectionParts } from './delivery-schemas.ts';

// They ask Temporal, after their transaction, and an answer that got lost must not start a second repair by itself.
const common = { access: 'required', tag: 'Operations', runsOnce: true } as const;

const reason = Type.String({
  minLength: 1,
  maxLength: 1_000,
  pattern: '\\S',
  [describedKeyword]: { pattern: visibleText },
  description: 'Reason; it is stored with the person who asked.',
});

const RepairSchema = Type.Object(
  {
    operation: Type.Unsafe<'retry' | 'skip'>({
      type: 'string',
      enum: ['retry', 'skip'],
      description: 'retry: tries failing deliveries again; skip: gives up failing and held deliveries.',
    }),
    reason,
    statuses: Type.Optional(
      Type.Array(Type.Unsafe<'failing' | 'held'>({ type: 'string', enum: ['failing', 'held'] }), {
        minItems: 1,
        maxItems: 2,
        uniqueItems: true,
        description:
          'Statuses of the deliveries to select. Default: failing; for skip with event_ids, also held. Held deliveries cannot be retried: they follow when the failing delivery before them has ended.',
      }),
    ),
    event_ids: Type.Optional(
      Type.Array(Type.Unsafe<string>(idText), {
        minItems: 1,
        maxItems: 1_000,
        description: 'Only deliveries of these events.',
      }),
    ),
    ...organizationPart,
    ...selectionParts,
    all: Type.Optional(
      Type.Boolean({
        description:
          'Selects the deliveries of all past events. Must be true if nothing else selects deliveries, and must be omitted otherwise.',
      }),
    ),
    per_second: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPerSecond,
        description: `Maximum number of deliveries per second. Default: ${defaultPerSecond}.`,
      }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Counts the selected deliveries and changes nothing.' })),
  },
  { title: 'Repair', additionalProperties: false },
);
type RepairBody = Static<typeof RepairSchema>;

const StopSchema = Type.Object({ reason }, { additionalProperties: false });

const repairParams = Type.Object({ id: idSchema('Id of the repair.') });

const errors = ['second_factor_required', 'workflows_unavailable'] as const;

/** Repairs of deliveries of all organizations, by operators of the installation; `npm run events` starts the same workflow. */
export const repairRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'POST',
    url: '/v1/operations/repairs',
    operationId: 'startRepair',
    summary: 'Repair deliveries of the installation',
    description:
      'Starts a workflow that tries the selected deliveries again, or gives them up, the oldest first: one delivery (event_ids and listener), several, or those of a period. For operators of the installation with a proof of the last ten minutes.',
    body: RepairSchema,
    answers: {
      202: Type.Object({ id: idSchema('Id of the repair; GET /v1/operations/repairs/{id} shows its progress.') }),
    },
    errors: [...errors, 'step_up_required'],
    handle: async (call: Call<RepairBody>) => {
      const { operator, now } = await asProven(call);
      const repairId = newId();
      await call.services.eventRepairs.start(requestOf(call.body, { repairId, operator, now }));
      return { status: 202, body: { id: repairId } };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/operations/repairs/:id',
    operationId: 'getRepair',
    summary: 'Show the progress of a repair',
    description: 'For operators of the installation. A repair needs a worker, and so does this answer.',
    params: repairParams,
    answers: {
      200: Type.Object({
        id: idSchema('Id of the repair.'),
        status: Type.String({ description: 'Status in Temporal, such as RUNNING or COMPLETED.' }),
        selected: Type.Integer({ description: 'Deliveries that were selected when it began.' }),
        repaired: Type.Integer({ description: 'Deliveries whose workflows have received the command.' }),
        is_stopped: Type.Boolean({ description: 'Whether the repair was stopped.' }),
        groups: Type.Array(GroupSchema, { description: 'The largest groups of the selected deliveries.' }),
      }),
    },
    errors: [...errors, 'not_found'],
    handle: async ({ services, request, params }) => {
      const repairId = params['id'] ?? '';
      await asOperator({ services, request }, requireOperator);
      const found = await services.eventRepairs.state(repairId);
      if (!found) throw noRepair(repairId);
      const { selected, repaired, isStopped, groups } = found.report;
      const shown = { selected, repaired, is_stopped: isStopped, groups: groups.map(shownGroup) };
      return { status: 200, body: { id: repairId, status: found.status, ...shown } };
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    url: '/v1/operations/repairs/:id/stop',
    operationId: 'stopRepair',
    summary: 'Stop a repair',
    description:
      'Ends a repair after the deliveries that it is working on; what it has done stays. For operators of the installation with a proof of the last ten minutes.',
    params: repairParams,
    body: StopSchema,
    answers: {
      202: Type.Object({
        id: idSchema('Id of the repair.'),
        is_stopping: Type.Boolean({ description: 'False for a repair that had ended before; nothing was done then.' }),
      }),
    },
    errors: [...errors, 'not_found', 'step_up_required'],
    handle: async (call: Call<Static<typeof StopSchema>>) => {
      const { operator } = await asProven(call);
      const repairId = call.params['id'] ?? '';
      const asked = { operator, reason: call.body.reason.trim(), requestId: call.request.core.requestId };
      const status = await call.services.eventRepairs.stop(repairId, asked);
      if (status === undefined) throw noRepair(repairId);
      return { status: 202, body: { id: repairId, is_stopping: status === 'RUNNING' } };
    },
  }),
];

/** The same names as in lists of deliveries. */
export function shownGroup({
  topic,
  ...group
}: {
  readonly status: string;
  readonly topic: string;
  readonly listener: string;
  readonly error: string | null;
  readonly count: number;
}) {
  return { ...group, type: topic };
}

async function asProven(call: Call<unknown>) {
  const userId = await asOperator(call, requireProvenOperator);
  return { operator: `user:${userId}`, now: call.services.clock.now().toISOString() };
}

/** @throws AppError invalid_input for a selection that the operation does not have */
function requestOf(
  { operation, reason: why, statuses, event_ids: eventIds, all = false, per_second, dry_run, ...parts }: RepairBody,
  { repairId, operator, now }: { readonly repairId: string; readonly operator: string; readonly now: string },
): RepairRequest {
  const selected = selectionOf(parts);
  const isSelection = eventIds !== undefined || Object.keys(selected).length > 0;
  if (isSelection === all)
    throw inputError([{ path: '/all', message: 'must be true without a selection, and not be sent with one' }]);
  if (operation === 'retry' && statuses?.includes('held'))
    throw inputError([{ path: '/statuses', message: 'must be failing: only failing deliveries can be tried again' }]);
  const bySkip = operation === 'skip' && eventIds !== undefined;
  return {
    repairId,
    operation,
    selection: {
      ...selected,
      ...(eventIds ? { eventIds } : {}),
      states: statuses ?? (bySkip ? ['failing', 'held'] : ['failing']),
      until: selected.until ?? now,
    },
    asked: { operator, reason: why.trim() },
    isDryRun: dry_run ?? false,
    perSecond: per_second ?? defaultPerSecond,
  };
}

function noRepair(repairId: string): AppError {
  return new AppError('not_found', `There is no repair "${shortened(repairId)}".`);
}
