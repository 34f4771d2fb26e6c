import type { RequestListener } from 'node:http';
import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Config } from '#config/objects/root.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { rawHeaders } from '../plugins/answer-headers.ts';
import { problemOf, problemType } from '../response/problem.ts';
import type { Services } from '../services.ts';

/** Maximum number of requests of one connection that are answered at the same time. */
const maxStreams = 100;

/** Maximum size of the headers of one request in bytes, as with HTTP/1.1. */
const maxHeaderBytes = 16_384;

/** Maximum number of headers of one request. */
const maxHeaders = 128;

/** Memory of one connection, in megabytes: headers, and data that waits. */
const maxSessionMegabytes = 10;

/** How many requests of one connection a client may take back at once, and further ones in a second (CVE-2023-44487). */
const maxResets = { streamResetBurst: 200, streamResetRate: 20 };

/** Time for a goodbye, or for an answer after a body that came too late, in milliseconds. */
const goodbyeMs = 1_000;

/** Connections with HTTP/2, with the same limits as those with HTTP/1.1. */
export class Http2Connections {
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #services: Pick<Services, 'config' | 'logger'>;

  constructor(handler: RequestListener, services: Pick<Services, 'config' | 'logger'>) {
    this.#services = services;
    this.#server = createServer({
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes, enablePush: false },
      maxHeaderListPairs: maxHeaders,
      maxSessionMemory: maxSessionMegabytes,
      ...maxResets,
    });
    this.#server.on('request', (request, response) => {
      destroysWithError(response);
      this.#limitBody(request, response);
      // Requests and responses of HTTP/2 have the interface of those of HTTP/1.1.
      (handler as unknown as (request: Http2ServerRequest, response: Http2ServerResponse) => void)(request, response);
    });
    this.#server.on('connect', (_request: Http2ServerRequest, response: Http2ServerResponse) =>
      refuseConnect(response, services.config.current),
    );
    this.#server.on('checkExpectation', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      // Ignoring an unknown expectation is allowed (RFC 9110, section 10.1.1).
      this.#server.emit('request', request, response);
    });
    this.#server.on('session', (session) => this.#follow(session));
    this.#server.on('sessionError', (error: NodeJS.ErrnoException) => {
      services.logger.debug({ reason: error.code }, 'a connection with HTTP/2 was broken');
    });
  }

  serve(socket: TLSSocket): void {
    this.#server.emit('connection', socket);
  }

  /** Requests that are being answered come to their end; no new ones are taken. */
  closeAll(): void {
    for (const session of this.#sessions) session.close();
  }

  destroyAll(): void {
    for (const session of this.#sessions) session.destroy();
  }

  /** Ends a connection without requests: at first after `server.readheadertimeout`, then after `server.idletimeout`. */
  #follow(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    let streams = 0;
    let idle: NodeJS.Timeout | undefined;
    const wait = (milliseconds: number) => {
      idle = setTimeout(() => end(session), milliseconds);
    };
    wait(this.#services.config.current.server.readheadertimeout);
    session.on('stream', (stream) => {
      streams++;
      clearTimeout(idle);
      stream.once('close', () => {
        if (--streams === 0 && !session.destroyed) wait(this.#services.config.current.server.idletimeout);
      });
    });
    session.once('close', () => {
      clearTimeout(idle);
      this.#sessions.delete(session);
    });
  }

  /** The body must have come within `server.readtimeout`. */
  #limitBody(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    if (stream.endAfterHeaders) return;
    // The reader of the body gets the error; where nobody does, it concerns nobody.
    request.on('error', () => {});
    const late = setTimeout(() => {
      if (request.complete) return;
      request.destroy(new AppError('request_timeout', 'The request did not arrive in time.'));
      setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), goodbyeMs).unref();
    }, this.#services.config.current.server.readtimeout);
    request.once('end', () => clearTimeout(late));
    response.once('close', () => clearTimeout(late));
  }
}

/** By default a response that is destroyed ends its stream without an error, and the client could take what it has for the whole. */
function destroysWithError(response: Http2ServerResponse): void {
  const { stream } = response;
  response.destroy = () => {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return response;
  };
}

function end(session: ServerHttp2Session): void {
  session.close();
  setTimeout(() => session.destroy(), goodbyeMs).unref();
}

function refuseConnect(response: Http2ServerResponse, config: Config): void {
  const requestId = newId();
  const error = new AppError('method_not_allowed', 'This server is not a proxy; CONNECT is not supported.');
  response.writeHead(error.status, {
    ...Object.fromEntries(rawHeaders(config, true)),
    'content-type': problemType,
    'cache-control': 'no-store',
    'x-request-id': requestId,
  });
  response.end(JSON.stringify(problemOf(error, requestId)));
}
