import type { FastifyInstance, FastifyReply } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { startSpan, type WorkSpan } from '#entities/kit/base/trace.ts';
import { newRequestContext, type RequestContext } from '../request-context.ts';
import type { Services } from '../services.ts';

const spans = new WeakMap<RequestContext, WorkSpan>();

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
    request.core = newRequestContext(request, span.traceparent, services.config.current.server.writetimeout);
    spans.set(request.core, span);
    request.log = request.log.child({ trace_id: span.traceId });
    reply.header('x-request-id', request.id);
    const leave = services.inFlight.enter();
    // Also called when the client disconnects before a response.
    reply.raw.once('close', leave);
    const isRefused = services.health.isStopping && request.routeOptions.config.whileStopping !== true;
    done(isRefused ? shuttingDown(reply) : undefined);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unmatched';
    const { statusCode } = reply;
    services.metrics.requests.inc({ method: request.method, route, status: statusCode });
    services.metrics.durations.observe({ method: request.method, route }, reply.elapsedTime / 1_000);
    accessLog.info(
      {
        request_id: request.id,
        trace_id: spans.get(request.core)?.traceId,
        method: request.method,
        route,
        status: statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        subject: request.core.caller.subjectId,
        organization_id: request.core.caller.organizationId,
        ...delegationOf(request.core),
        statements: request.core.unit?.statements ?? 0,
      },
      'request',
    );
    const span = spans.get(request.core);
    span?.set({ 'http.route': route, 'http.response.status_code': statusCode });
    span?.end(statusCode >= 500 ? `status ${statusCode}` : undefined);
    done();
  });
}

/**
 * Closes connections whose client does not read the response. Must be registered after the commit: if that fails, sending the
 * error gets its own time.
 */
export function cutSlowReaders(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const leftMs = Math.max(minSendMs, request.core.deadline - Date.now());
    const cut = setTimeout(() => reply.raw.destroy(), leftMs);
    reply.raw.once('close', () => clearTimeout(cut));
    done(null, payload);
  });
}

/** Who is behind a request of somebody who acts as somebody else: the record says it. */
function delegationOf({ caller: { delegation } }: RequestContext): { readonly delegation_id?: string } {
  return delegation === null ? {} : { delegation_id: delegation.id };
}

function shuttingDown(reply: FastifyReply): AppError {
  reply.header('connection', 'close');
  return new AppError('shutting_down', 'This process is shutting down and accepts no new requests; try again.', {
    details: { retryAfterSeconds: 1 },
  });
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
