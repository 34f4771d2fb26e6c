import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { continuing, startSpan } from '#entities/kit/base/trace.ts';
import { newRequestContext } from '../request-context.ts';
import type { Services } from '../services.ts';
import { cutWhenStalled } from '../streams/cut-when-stalled.ts';
import { endConnection } from '../tls/http2-request.ts';

/** Minimum time for sending a response, in milliseconds, even when the deadline has passed. */
const minSendMs = 1_000;

/**
 * Creates the span and the context of a request and writes one access log line at its end. The request id is sent in
 * `X-Request-Id` and stored with every row, event and workflow that the request causes.
 */
export function requestContextPlugin(app: FastifyInstance, services: Services): void {
  app.decorateRequest('core');
  // Its fields contain no secrets, so redaction would only cost time.
  const accessLog = services.logger.child({}, { redact: [] });
  app.addHook('onRequest', (request, reply, done) => {
    const span = startSpan(`${request.method} ${request.routeOptions.url ?? 'unmatched'}`, {
      parent: headerOf(request.headers['traceparent']),
      attributes: { 'http.request.method': request.method, 'request.id': request.id },
    });
    // The response must be sent within `writetimeout`; clients of other services get the remaining time.
    request.core = newRequestContext(request, span, services.config.current.server.writetimeout);
    request.log = request.log.child({ trace_id: span.traceId });
    reply.header('x-request-id', request.id);
    const leave = services.inFlight.enter();
    // Also called when the client disconnects before a response.
    reply.raw.once('close', leave);
    const isRefused = services.health.isStopping && request.routeOptions.config.whileStopping !== true;
    done(isRefused ? shuttingDown(request, reply) : undefined);
  });
  // Directly before the handler: its log lines say whose work it is, and what it does belongs to the span of the request.
  app.addHook('preHandler', (request, _reply, done) => {
    const { caller, traceparent } = request.core;
    if (caller.organizationId !== null) request.log = request.log.child({ organization_id: caller.organizationId });
    continuing(traceparent, done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url ?? 'unmatched';
    const { statusCode, elapsedTime } = reply;
    const { span, caller, unit } = request.core;
    services.metrics.answered({ method, route }, statusCode, {
      durationMs: request.core.isEndless ? undefined : elapsedTime,
      traceId: span?.traceId,
    });
    accessLog.info(
      {
        request_id: request.id,
        trace_id: span?.traceId,
        method,
        route,
        status: statusCode,
        duration_ms: Math.round(elapsedTime * 10) / 10,
        subject: caller.subjectId,
        organization_id: caller.organizationId,
        // The record of the delegation names the person who acts as somebody else.
        delegation_id: caller.delegation?.id,
        statements: unit?.statements ?? 0,
      },
      'request',
    );
    span?.set({ 'http.route': route, 'http.response.status_code': statusCode });
    span?.end(statusCode >= 500 ? `status ${statusCode}` : undefined);
    done();
  });
}

/**
 * Closes connections whose client does not read the response. A stream or a download takes as long as its client needs, if that takes
 * some of it within each `writetimeout`. Must be registered after the commit: if that fails, sending the error gets its own time.
 */
export function destroyStalledResponses(app: FastifyInstance, { config }: Pick<Services, 'config'>): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (payload instanceof Readable || request.core.isDownload) {
      cutWhenStalled(reply.raw, config.current.server.writetimeout);
      return done(null, payload);
    }
    const leftMs = Math.max(minSendMs, request.core.deadline - Date.now());
    const cut = setTimeout(() => reply.raw.destroy(), leftMs);
    reply.raw.once('close', () => clearTimeout(cut));
    return done(null, payload);
  });
}

function shuttingDown(request: FastifyRequest, reply: FastifyReply): AppError {
  endConnection(request, reply);
  return new AppError('shutting_down', 'This process is shutting down and accepts no new requests; try again.', {
    details: { retryAfterSeconds: 1 },
  });
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
