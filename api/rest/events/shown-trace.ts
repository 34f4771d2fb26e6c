import { traceIdOf } from '#entities/kit/base/trace.ts';
import type { EventRun } from '#runtime/event-runs.ts';
import type { ShownTrace } from '../../webhooks/trace-of-request.ts';

/** A trace as it is answered. */
export type ShownRequest = ReturnType<typeof shownTrace>;

/** @param runs null while Temporal cannot be reached */
export function shownTrace(
  requestId: string,
  { request, changes, events }: ShownTrace,
  runs: readonly (EventRun & { readonly url: string | null })[] | null,
) {
  return {
    request_id: requestId,
    request,
    changes: changes.map((change) => ({
      kind: change.kind,
      record_id: change.recordId,
      organization_id: change.organizationId,
      operation: change.operation,
      version: change.recordVersion,
      fields: change.changedFields,
      actor: change.actor,
      at: change.recordedAt,
    })),
    events: events.map((event) => ({
      id: event.id,
      type: event.topic,
      kind: event.entityKind,
      record_id: event.entityId,
      organization_id: event.organizationId,
      actor: event.actor,
      occurred_at: event.occurredAt,
      trace_id: traceIdOf(event.traceparent) ?? null,
      deliveries: event.deliveries.map(({ listener, status, error, updatedAt }) => ({
        listener,
        status,
        error,
        updated_at: updatedAt,
      })),
      messages: event.messages.map(({ endpointId, status, attempts }) => ({
        endpoint_id: endpointId,
        status,
        attempts,
      })),
    })),
    runs:
      runs?.map(({ workflowId, runId, type, status, startedAt, closedAt, url }) => ({
        workflow_id: workflowId,
        run_id: runId,
        type,
        status,
        started_at: startedAt,
        closed_at: closedAt,
        url,
      })) ?? null,
  };
}
