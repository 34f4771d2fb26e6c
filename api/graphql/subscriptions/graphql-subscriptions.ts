import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Plugin } from 'graphql-yoga';
import { AppError } from '#entities/kit/base/errors.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import type { Services } from '../../http/services.ts';
import { StreamCaller } from '../../http/stream-caller.ts';
import { SubscriptionHub } from '../../subscriptions/subscription-hub.ts';
import { asGraphqlError, asRequestError } from '../graphql-errors.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import { OperationQueue } from '../operations/operation-queue.ts';
import { checkOrigin } from './allowed-origin.ts';
import {
  isSubscription,
  preparedSubscription,
  sentError,
  type SentOperation,
  type Yoga,
} from './begin-subscription.ts';
import { EventStream } from './event-stream.ts';
import { GraphqlSockets } from './graphql-sockets.ts';
import { openOperation, OperationStream } from './operation-stream.ts';

/** Part of `server.graphpool.maxworkers` that may read for subscribers at the same time, besides the operations. */
const deliveryShare = 0.25;

/** Subscriptions of one process, over server-sent events and websockets. */
export class GraphqlSubscriptions {
  readonly #services: Services;
  readonly #yoga: Yoga;
  readonly #hub: SubscriptionHub;
  readonly #deliveries: OperationQueue;
  readonly #sockets: GraphqlSockets;

  constructor(app: FastifyInstance, services: Services, yoga: Yoga) {
    const { config, changeFeed: feed, logger, metrics } = services;
    this.#services = services;
    this.#yoga = yoga;
    this.#hub = new SubscriptionHub({ feed, config, logger, metrics });
    // A waiting client is a subscriber that exists already, so nobody is turned away.
    this.#deliveries = new OperationQueue(
      () => Math.ceil(config.current.server.graphpool.maxworkers * deliveryShare),
      Number.POSITIVE_INFINITY,
    );
    this.#sockets = new GraphqlSockets({ services, hub: this.#hub, yoga, deliveries: this.#deliveries });
    this.#sockets.attach(app);
    const stop = () => this.#hub.stop(stopping());
    services.openStreams.onStop(stop);
    app.addHook('preClose', (done) => {
      stop();
      done();
    });
  }

  isUpgrade(request: FastifyRequest): boolean {
    return this.#sockets.isUpgrade(request);
  }

  /**
   * Answers a request for a websocket, and one for a subscription as server-sent events.
   * @returns whether it did; all others are no subscriptions
   * @throws AppError
   */
  async answer(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    if (this.isUpgrade(request)) {
      this.#sockets.accept(request, reply);
      return true;
    }
    const sent = sentOperation(request);
    const isStream = acceptsEvents(request);
    // Without the word, parsing would be in vain.
    if (request.method === 'HEAD' || !(isStream || String(sent.query).includes('subscription'))) return false;
    const context = { services: this.#services, fastify: { request, reply } };
    if (!isSubscription(this.#yoga, sent, context)) return false;
    const hub = this.#hub;
    // Before anything else that is wrong: it cannot be mended by whoever sends it.
    hub.refuseUnlessEnabled();
    if (!isStream) return false;
    if (request.core.caller === anonymousCaller) throw signInFirst();
    checkOrigin(request, this.#services, { isRequired: false });
    const prepared = preparedSubscription(this.#yoga, sent, context);
    if ('errors' in prepared)
      return refuse(
        reply,
        prepared.errors.map((error) => sentError(error, request)),
      );
    const { writetimeout } = this.#services.config.current.server;
    const stream = new EventStream(new StreamCaller(request, this.#services), writetimeout, (error) => ({
      errors: [sentError(error, request)],
    }));
    let disconnect: (() => void) | undefined;
    stream.once('close', () => disconnect?.());
    try {
      disconnect = await hub.connect(stream);
      const options = { context, hub, connection: stream, deliveries: this.#deliveries };
      const messages = await openOperation(prepared.args, options);
      if (!(messages instanceof OperationStream)) {
        stream.destroy();
        return refuse(
          reply,
          (messages.errors ?? []).map((error) => sentError(error, request)),
        );
      }
      // A client that has left before the answer begins closes nothing that is still to come.
      if (reply.raw.destroyed) stream.destroy();
      stream.send(messages);
    } catch (error) {
      disconnect?.();
      stream.destroy();
      throw error;
    }
    reply.raw.once('close', () => stream.destroy());
    request.core.isEndless = true;
    void reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // For proxies that would collect the messages.
      'x-accel-buffering': 'no',
    });
    void reply.send(stream);
    return true;
  }
}

/** Problem of the operation itself (GraphQL over HTTP, section 6.4). */
function refuse(reply: FastifyReply, errors: readonly object[]): true {
  void reply.code(400).type('application/json; charset=utf-8').send({ errors });
  return true;
}

/** `q=0` apart, which nobody sends for what they ask for. */
function acceptsEvents({ headers: { accept } }: FastifyRequest): boolean {
  return accept?.toLowerCase().includes('text/event-stream') ?? false;
}

function sentOperation({ method, query, body }: FastifyRequest): SentOperation {
  if (method === 'POST') return body ?? {};
  const { query: text, operationName, variables } = query as Readonly<Record<string, string | undefined>>;
  return {
    query: text,
    operationName,
    // The route has checked that it is JSON.
    variables: variables ? (JSON.parse(variables) as Record<string, unknown>) : undefined,
  };
}

function stopping(): AppError {
  return new AppError('shutting_down', 'This process is shutting down; subscribe again after the last cursor.', {
    details: { retryAfterSeconds: 1 },
  });
}

/** Refuses a subscription whose client takes only one answer. */
export function refuseOverJson(): Plugin<GraphqlContext> {
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(() => ({
        errors: [
          asRequestError(
            asGraphqlError(
              new AppError(
                'not_acceptable',
                'A subscription is answered as server-sent events (Accept: text/event-stream), or over a websocket with graphql-transport-ws.',
              ),
            ),
          ),
        ],
      }));
    },
  };
}
