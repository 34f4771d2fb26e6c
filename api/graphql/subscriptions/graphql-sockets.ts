import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, type ExecutionArgs } from 'graphql';
import { handleProtocols, makeServer, type Context, type Server } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import { isAppError, type AppError } from '#entities/kit/base/errors.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';
import { authenticateBearer } from '../../http/plugins/authenticate.ts';
import { organizationHeader } from '../../http/request-caller.ts';
import type { Services } from '../../http/services.ts';
import { StreamCaller } from '../../http/stream-caller.ts';
import { subscriptionLimits } from '../../subscriptions/subscription-limits.ts';
import type { SubscriptionHub } from '../../subscriptions/subscription-hub.ts';
import type { OperationQueue } from '../operations/operation-queue.ts';
import { checkOrigin } from './allowed-origin.ts';
import { preparedSubscription, sentError, type Yoga } from './begin-subscription.ts';
import { openOperation, OperationStream } from './operation-stream.ts';
import { SocketConnection } from './socket-connection.ts';

/** Largest message of a client, in bytes, as the largest body of a request. */
const maxMessageBytes = 1_048_576;

/** Pause between two pings, in milliseconds; whoever has not answered the last one is gone. */
const pingMs = 12_000;

/** How many messages a client may send at once, and further ones in a second. */
const maxMessages = { atOnce: 300, inSecond: 30 };

/** State of one websocket. */
interface Extra {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly connection: SocketConnection;
  disconnect: () => void;
}

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

interface SocketOptions {
  readonly services: Services;
  readonly hub: SubscriptionHub;
  readonly yoga: Yoga;
  readonly deliveries: OperationQueue;
}

/** Subscriptions over websockets (graphql-transport-ws). The request that asks for one passes the same plugins as every other. */
export class GraphqlSockets {
  readonly #options: SocketOptions;
  readonly #upgrades = new WeakMap<IncomingMessage, Upgrade>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols,
  });
  readonly #protocol: Server<Extra>;
  /** Operations that have begun, by what is executed. */
  readonly #streams = new WeakMap<ExecutionArgs, OperationStream>();
  /** Websockets, with whether they have answered the last ping. */
  readonly #open = new Map<WebSocket, boolean>();
  /** Runs while there are websockets. */
  #pings: NodeJS.Timeout | undefined;

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#protocol = makeServer<Record<string, unknown>, Extra>({
      onConnect: (context) => this.#connect(context),
      onSubscribe: (context, _id, payload) => this.#subscribe(context, payload),
      subscribe: (args) => this.#streams.get(args) as OperationStream,
      onError: ({ extra }, _id, _payload, errors) =>
        errors.map((error) => {
          // The result of a subscription that could not begin is in the form of an answer already.
          if (!(error instanceof GraphQLError) || 'code' in error.extensions) return error;
          return sentError(error.cause ?? error, extra.request).toJSON();
        }),
    });
  }

  /** Routes requests for websockets like all others. */
  attach(app: FastifyInstance): void {
    app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      // The response of a refusal, which is the last one of the connection.
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => this.#upgrades.has(request) && socket.end());
      socket.on('error', () => socket.destroy());
      this.#upgrades.set(request, { socket, head });
      app.routing(request, response);
    });
    app.addHook('onClose', (_app, done) => {
      clearInterval(this.#pings);
      for (const socket of this.#open.keys()) socket.terminate();
      done();
    });
  }

  isUpgrade({ raw }: FastifyRequest): boolean {
    return this.#upgrades.has(raw);
  }

  /** Makes the connection of a request a websocket. @throws AppError subscriptions_disabled, shutting_down, foreign_origin */
  accept(request: FastifyRequest, reply: FastifyReply): void {
    const upgrade = this.#upgrades.get(request.raw);
    if (!upgrade) throw new Error('this request asks for no websocket');
    this.#options.hub.refuseUnlessEnabled();
    // A client without cookies identifies itself with the first message.
    if (request.core.token) checkOrigin(request, this.#options.services, { isRequired: true });
    reply.hijack();
    this.#upgrades.delete(request.raw);
    const { raw: response } = reply;
    response.detachSocket(upgrade.socket as Socket);
    this.#sockets.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) =>
      this.#opened(socket, request, reply),
    );
    // The request is over; its log line and its place among the others end here.
    response.statusCode = 101;
    response.emit('finish');
    response.emit('close');
  }

  #opened(socket: WebSocket, request: FastifyRequest, reply: FastifyReply): void {
    const caller = new StreamCaller(request, this.#options.services);
    const connection = new SocketConnection(socket, caller);
    const extra: Extra = { request, reply, connection, disconnect: () => {} };
    const isAllowed = messageLimit();
    this.#open.set(socket, true);
    this.#pings ??= setInterval(() => this.#ping(), pingMs).unref();
    socket.on('pong', () => this.#open.set(socket, true));
    socket.on('ping', () => connection.limitWaiting());
    // A problem of a frame closes the connection; whoever sent it learns why from the code.
    socket.on('error', (error) => request.log.debug({ err: error }, 'a websocket connection failed'));
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) => connection.send(data),
        close: (code, reason) => connection.close(code ?? 1000, reason ?? ''),
        onMessage: (receive) =>
          socket.on('message', (data: Buffer, isBinary) => {
            if (socket.readyState !== socket.OPEN) return;
            if (isBinary) connection.close(4400, 'Invalid message received');
            else if (isAllowed()) receive(data.toString()).catch((error: unknown) => this.#fail(extra, error));
            else connection.close(4429, 'Too many messages');
          }),
      },
      extra,
    );
    socket.once('close', (code, reason) => {
      this.#open.delete(socket);
      if (this.#open.size === 0) {
        clearInterval(this.#pings);
        this.#pings = undefined;
      }
      extra.disconnect();
      void closed(code, reason.toString());
    });
  }

  /** An error while a message is handled ends the connection. */
  #fail({ connection, request }: Extra, error: unknown): void {
    if (isAppError(error)) connection.endWith(error);
    else {
      // The protocol says so for messages of a wrong form.
      request.log.info({ err: error }, 'a message of a websocket cannot be handled');
      connection.close(4400, 'Invalid message received');
    }
  }

  async #connect({ extra, connectionParams }: Context<Record<string, unknown>, Extra>): Promise<boolean> {
    const { request, connection } = extra;
    try {
      const { authorization, [organizationHeader]: organization } = lowerCased(connectionParams ?? {});
      if (typeof authorization === 'string') {
        if (typeof organization === 'string') request.raw.headers[organizationHeader] = organization;
        await authenticateBearer(request, this.#options.services, authorization);
      }
      const disconnect = await this.#options.hub.connect(connection);
      extra.disconnect = disconnect;
      // It may have left meanwhile.
      if (!connection.isOpen) disconnect();
      return true;
    } catch (error) {
      if (!isAppError(error)) throw error;
      connection.endWith(error);
      return false;
    }
  }

  async #subscribe(
    { extra, subscriptions }: Context<Record<string, unknown>, Extra>,
    payload: { readonly query: string; readonly operationName?: string | null; readonly variables?: object | null },
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { request, reply, connection } = extra;
    const { services, hub, yoga, deliveries } = this.#options;
    const context = { services, fastify: { request, reply } };
    try {
      if (Object.keys(subscriptions).length > subscriptionLimits.subscriptions) throw tooMany();
      const prepared = preparedSubscription(yoga, payload as never, context);
      if ('errors' in prepared) return prepared.errors.map((error) => sentError(error, request));
      const { args } = prepared;
      const stream = await openOperation(args, { context, hub, connection, deliveries });
      if (!(stream instanceof OperationStream)) return (stream.errors ?? []).map((error) => sentError(error, request));
      this.#streams.set(args, stream);
      return args;
    } catch (error) {
      return [sentError(error, request)];
    }
  }

  #ping(): void {
    for (const [socket, hasAnswered] of this.#open) {
      if (hasAnswered) {
        this.#open.set(socket, false);
        socket.ping();
      } else socket.terminate();
    }
  }
}

function tooMany(): AppError {
  return limitExceeded(`One connection can have ${subscriptionLimits.subscriptions} subscriptions; open another one.`, {
    path: '/query',
    message: `is one of more than ${subscriptionLimits.subscriptions} subscriptions of the connection`,
  });
}

function lowerCased(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Whether one more message is allowed (token bucket). */
function messageLimit(): () => boolean {
  let tokens = maxMessages.atOnce;
  let at = performance.now();
  return () => {
    const now = performance.now();
    tokens = Math.min(maxMessages.atOnce, tokens + ((now - at) / 1_000) * maxMessages.inSecond);
    at = now;
    tokens -= 1;
    return tokens >= 0;
  };
}
