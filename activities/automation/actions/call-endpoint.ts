import type { Row } from '#entities/automation/approvals/approval-work.ts';
import type { WebhookAction } from '#entities/automation/document/definition-document.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { addMessage } from '#entities/webhooks/webhook-message-rows.ts';
import { workflowMessageTopic } from '#entities/webhooks/workflow-message-topic.ts';
import type { ActionRun } from '../action-run.ts';
import { resolvedObject } from './resolved-object.ts';

/** Most bytes of a payload. */
const maxBytes = 65_536;

/** Sends a message to an endpoint that the person who published the version may use. Attempts and their log are those of all messages. */
export async function callEndpoint(run: ActionRun, { key, params }: WebhookAction): Promise<Row> {
  const { instance } = run.locked;
  const details = await resolvedObject(run, params.payload);
  const payload = {
    definitionId: instance.definitionId,
    actionKey: key,
    recordKind: instance.recordKind,
    recordId: instance.subjectId,
    payload: details,
  };
  if (Buffer.byteLength(JSON.stringify(payload)) > maxBytes)
    throw new AppError('rule_violated', `The message to the endpoint has more than ${maxBytes} bytes.`);
  const data = await run.asPublisher();
  const endpoint = await data.get(webhookEndpoint, params.endpoint_id).catch((error: unknown) => {
    if (!isAppError(error) || error.code !== 'not_found') throw error;
    throw new AppError('rule_violated', `The webhook endpoint "${params.endpoint_id}" does not exist any more.`);
  });
  if (endpoint.status !== 'enabled')
    throw new AppError('rule_violated', `The webhook endpoint "${endpoint.name}" is disabled.`);
  const { unit } = run.work;
  const eventId = newId();
  await addMessage(unit, {
    endpointId: endpoint.id,
    organizationId: instance.organizationId,
    eventId,
    topic: workflowMessageTopic,
    entityKind: workflowInstance.topic,
    entityId: instance.id,
    recordVersion: instance.recordVersion,
    payload,
  });
  unit.afterCommit(run.wakeRelays);
  return { endpointId: endpoint.id, eventId };
}
