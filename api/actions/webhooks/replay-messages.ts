import { Type } from 'typebox';
import { inputError } from '#entities/kit/base/input-error.ts';
import { parseInstant } from '#entities/kit/base/instant.ts';
import { found, mismatch } from '#entities/kit/base/schema-problem.ts';
import { replayMessages } from '#entities/webhooks/webhook-message-rows.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { lockedEnabledEndpoint } from '../../webhooks/change-endpoint.ts';
import { refuseMalformedIds } from '../../webhooks/malformed-ids.ts';
import { instant, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Messages that one request sends again. */
const maxReplayed = 10_000;

/** Most events that one request names. */
const maxReplayedIds = 1_000;

/** Replays of one endpoint in ten minutes. A replay can be of ten thousand messages. */
const uses = 30;

export const replayWebhookMessages = defineAction({
  name: 'replayWebhookMessages',
  operationId: 'replayWebhookEndpointMessages',
  url: '/v1/webhook-endpoints/:id/replay',
  tag: 'Webhook endpoints',
  summary: 'Send messages to an endpoint again',
  description: `Either the messages of some events, or all since an instant, up to ${maxReplayed.toLocaleString('en')} in one request. They keep their ids, so a receiver that has seen them can recognize them. An endpoint has ${uses} replays in ten minutes.`,
  acceptsSingleSignOn: true,
  limits: [{ per: 'record', uses, windowMs: 600_000, exceeded: 'Messages were sent to this endpoint again too often' }],
  input: {
    id: idSchema('Id of the endpoint.'),
    eventIds: Type.Optional(Type.Array(idSchema('Id of an event.'), { minItems: 1, maxItems: maxReplayedIds })),
    since: Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description: 'Time of the first event.' })),
  },
  inputSize: { minProperties: 1, maxProperties: 1 },
  answer: {
    replayedCount: Type.Integer({ description: 'Number of messages that are due again.' }),
    next: orNull(instant('Value of `since` for the next request; null if there are no more messages.')),
  },
  status: 202,
  errors: ['not_found', 'permission_denied'],
  run: async (asking, { id, eventIds, since }) => {
    const { unit, services } = asking;
    const endpoint = await lockedEnabledEndpoint(asking, id);
    refuseMalformedIds(Object.fromEntries((eventIds ?? []).map((one, index) => [`/eventIds/${index}`, one])));
    const which = eventIds ? { eventIds } : { since: instantOf(since, unit.clock.now()), limit: maxReplayed };
    const { count, last } = await replayMessages(unit, { endpointId: endpoint.id, which });
    if (count > 0) unit.afterCommit(services.wakeRelays);
    return { replayedCount: count, next: 'limit' in which && count === maxReplayed ? last : null };
  },
});

/** The schema of a body accepts times that JavaScript does not have, such as leap seconds. @throws AppError invalid_input */
function instantOf(since: string | undefined, now: Date): Date {
  const parsed = parseInstant(since ?? '');
  if (!parsed) throw inputError([{ path: '/since', message: mismatch('date-time', since) }]);
  if (parsed > now)
    throw inputError([{ path: '/since', message: `must not be in the future${found(parsed.toISOString())}` }]);
  return parsed;
}
