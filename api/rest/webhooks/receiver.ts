import type { Config } from '#config/objects/root.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isInstant } from '#entities/kit/base/instant.ts';
import { JsonRefusal, parseStrictJson } from '#entities/kit/base/strict-json.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { webhookEvent } from '#entities/billing/webhook-event.ts';
import { workOf } from '../../http/request-context.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute, type Route } from '../../http/route.ts';

/** Maximum size of what another system sends at once, in bytes. */
const defaultLimitBytes = 1_048_576;

/** A request to a receiver, before anything of it is believed. */
export interface RawDelivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes of the body, as they were signed. */
  readonly body: Buffer;
}

/** Event that a receiver has read. */
export interface ReceivedEvent {
  /** Id of the event at the system that sent it: a second event with it has no effect. */
  readonly externalId: string;
  readonly type: string;
  readonly occurredAt: Date;
  /** Small values for the listener that acts on it. */
  readonly values: Readonly<Record<string, string>>;
}

/** How events of another system arrive. */
export interface Receiver {
  /** Name of the system, by which listeners know its events. */
  readonly source: string;
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly limitBytes?: number;
  /** The secret that proves who sends; while it is empty, there is no such route. */
  readonly secretOf: (config: Config) => string;
  /** Whether the request proves it, in constant time. */
  readonly verify: (delivery: RawDelivery, secret: string, now: Date) => boolean;
  /** Undefined for events that nobody acts on. @param document the parsed body */
  readonly read: (document: unknown, delivery: RawDelivery) => ReceivedEvent | undefined;
}

/**
 * The route of a receiver: it checks the size and the signature of what it is sent, stores the event once, and answers. Listeners of
 * `webhook_event.received` decide what follows from an event.
 */
export function defineReceiver(receiver: Receiver): Route {
  const { source, url, limitBytes = defaultLimitBytes } = receiver;
  return defineRoute({
    method: 'POST',
    url,
    operationId: receiver.operationId,
    tag: 'Receivers',
    summary: receiver.summary,
    description: `${receiver.description} Without a configured secret, the route does not exist. An event that was received before, and one of an unknown type, are answered with 200 and have no effect.`,
    access: 'anonymous',
    verifiesSignature: true,
    rawBodyLimit: limitBytes,
    // It has a transaction of its own.
    runsOnce: true,
    answers: { 200: MessageSchema },
    errors: ['route_not_found', 'invalid_signature', 'body_too_large', 'malformed_body'],
    handle: async ({ request, services }) => {
      const secret = receiver.secretOf(services.config.current);
      if (secret === '') throw new AppError('route_not_found', `There is no route POST ${url}; see /docs.`);
      const delivery = { headers: request.headers, body: rawBody(request.body) };
      if (!receiver.verify(delivery, secret, services.clock.now()))
        throw new AppError('invalid_signature', 'The request is not signed with the secret of this receiver.');
      const event = receiver.read(documentOf(delivery.body), delivery);
      if (event) {
        const { externalId, type, occurredAt, values } = event;
        await services.database.transact(workOf(request.core, systemCaller('receive event')), ({ data }) =>
          data.createOnce(webhookEvent, { provider: source, externalId, type, occurredAt }, (stored) =>
            customEvent(webhookEvent, 'received', stored, {
              provider: source,
              type,
              occurredAt: occurredAt.toISOString(),
              values,
            }),
          ),
        );
      }
      return { status: 200, body: { message: 'The event was received.' } };
    },
  });
}

function rawBody(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function documentOf(body: Buffer): unknown {
  try {
    return parseStrictJson(utf8.decode(body));
  } catch (cause) {
    const reason = cause instanceof JsonRefusal ? cause.message : 'it is not valid UTF-8';
    throw new AppError('malformed_body', `The request body is invalid: ${reason}. Send a JSON document in UTF-8.`, {
      cause,
    });
  }
}

/** The text in a document at these keys; undefined when there is none. */
export function textAt(document: unknown, ...keys: readonly string[]): string | undefined {
  let value = document;
  for (const key of keys)
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The instant in a document at these keys; undefined when there is none that can be stored. */
export function instantAt(document: unknown, ...keys: readonly string[]): Date | undefined {
  const at = new Date(textAt(document, ...keys) ?? Number.NaN);
  return isInstant(at) ? at : undefined;
}
