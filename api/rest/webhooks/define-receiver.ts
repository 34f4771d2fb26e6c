import type { FastifyRequest } from 'fastify';
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import type { Config } from '#config/objects/root.ts';
import type { ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isInstant } from '#entities/kit/base/instant.ts';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { JsonRefusal, parseStrictJson } from '#entities/kit/base/strict-json.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';

/** Maximum size of what another system sends at once, in bytes. */
const defaultLimitBytes = mebibyte;

/** A request to a receiver, before anything of it is believed. */
export interface RawDelivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params: Call<unknown>['params'];
  readonly query: Call<unknown>['query'];
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

/** The system that a delivery says it comes from. */
export interface Sender {
  /** Proves who sends. */
  readonly secret: string;
  /** Records an event, unless it was recorded before. @param body as it arrived, a JSON document */
  readonly record: (event: ReceivedEvent, body: string) => Promise<void>;
}

/** The senders that a receiver accepts, with their secrets: by request (`configuredSender`), or by record (`integrationWebhooks`). */
export interface Senders {
  /** When there is no such route, and what happens to events, in the description. */
  readonly description: string;
  /** Parameters of the URL. */
  readonly params?: TObject;
  /** Errors of `find` and `record`, besides those of every receiver. */
  readonly errors?: readonly ErrorCode[];
  /** @returns undefined when there is no such sender */
  readonly find: (
    delivery: RawDelivery,
    context: { readonly request: FastifyRequest; readonly services: Services },
  ) => Promise<Sender | undefined> | Sender | undefined;
}

/** How events of another system arrive. Files named `….receiver.ts` are found in `api/rest`. */
export interface Receiver<Payload extends TSchema> {
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly limitBytes?: number;
  /** Parameters of the query, such as the version in which events are written. */
  readonly query?: TObject;
  readonly senders: Senders;
  /** Acknowledged without looking at the signature, and not recorded: events in a version that is no longer read. */
  readonly discards?: (delivery: RawDelivery, config: Config) => boolean;
  /** Whether the request proves its sender, in constant time. */
  readonly verify: (delivery: RawDelivery, secret: string, now: Date) => boolean | Promise<boolean>;
  /** Bodies that nobody acts on do not match it. */
  readonly payload: Payload;
  /** Undefined for events that nobody acts on. */
  readonly read: (
    payload: Static<Payload>,
    delivery: RawDelivery,
    config: Config,
    now: Date,
  ) => ReceivedEvent | undefined;
}

/**
 * The route of a receiver: it checks size, version and signature of what it is sent, records the event once, and answers. Listeners
 * decide what follows from an event.
 */
export function defineReceiver<Payload extends TSchema>(receiver: Receiver<Payload>): Route {
  const { url, senders, limitBytes = defaultLimitBytes, query } = receiver;
  const payload = Compile(receiver.payload);
  return defineRoute({
    method: 'POST',
    url,
    operationId: receiver.operationId,
    tag: 'Receivers',
    summary: receiver.summary,
    description: `${receiver.description} ${senders.description} An event that was received before, and one of an unknown type, are answered with 200 and have no effect.`,
    access: 'anonymous',
    verifiesSignature: true,
    rawBodyLimit: limitBytes,
    // It has a transaction of its own.
    runsOnce: true,
    ...(senders.params ? { params: senders.params } : {}),
    ...(query ? { query } : {}),
    answers: { 200: MessageSchema },
    errors: ['route_not_found', 'invalid_signature', 'body_too_large', 'malformed_body', ...(senders.errors ?? [])],
    handle: async (call) => {
      const { request, services } = call;
      const delivery = rawDelivery(call, receiver);
      if (receiver.discards?.(delivery, services.config.current)) return received;
      const sender = await senders.find(delivery, { request, services });
      if (!sender) throw new AppError('route_not_found', `There is no route POST ${pathOf(request)}; see /docs.`);
      const now = services.clock.now();
      if (!(await receiver.verify(delivery, sender.secret, now)))
        throw new AppError('invalid_signature', 'The request is not signed with the secret of this receiver.');
      const { body, document } = documentOf(delivery.body);
      const event = payload.Check(document)
        ? receiver.read(document, delivery, services.config.current, now)
        : undefined;
      if (event) await sender.record(event, body);
      return received;
    },
  });
}

/** Parameters of the path and the query are read where they have a schema, which has checked them. */
function rawDelivery(
  { request, params, query }: Pick<Call<unknown>, 'request' | 'params' | 'query'>,
  { senders, query: known }: Pick<Receiver<TSchema>, 'senders' | 'query'>,
): RawDelivery {
  return {
    headers: request.headers,
    params: senders.params ? params : {},
    query: known ? query : {},
    body: rawBody(request.body),
  };
}

const received = { status: 200, body: { message: 'The event was received.' } } as const;

function pathOf({ url }: FastifyRequest): string {
  return url.replace(/\?.*$/s, '');
}

function rawBody(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function documentOf(bytes: Buffer): { readonly body: string; readonly document: unknown } {
  try {
    const body = utf8.decode(bytes);
    return { body, document: parseStrictJson(body) };
  } catch (cause) {
    const reason = cause instanceof JsonRefusal ? cause.message : 'it is not valid UTF-8';
    throw new AppError('malformed_body', `The request body is invalid: ${reason}. Send a JSON document in UTF-8.`, {
      cause,
    });
  }
}

/** A text that is not empty, in the schema of a payload. */
export const filledText = Type.String({ minLength: 1 });

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
