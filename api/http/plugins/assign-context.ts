import type { FastifyInstance, FastifyReply } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { startSpan, type WorkSpan } from '#entities/kit/base/trace.ts';
import { newRequestContext, type RequestContext } from '../request-context.ts';
import type { Services } from '../services.ts';

const spans = new WeakMap<RequestContext, WorkSpan>();

/** Time an answer has at least to reach the client, in milliseconds; one that was late itself gets no more. */
const lastWordMs = 1_000;

/**
 * Opens the request's span and context, and closes them with one access log line. The request id goes out in
 * `X-Request-Id`; every row, event and workflow the request causes carries it.
 */
export function requestContextPlugin(app: FastifyInstance, services: Services): void {
  app.decorateRequest('core');
  // Its fields are known here, so nothing secret has to be looked for in them.
  const accessLog = services.logger.child({}, { redact: [] });
  app.addHook('onRequest', (request, reply, done) => {
    const span = startSpan(`${request.method} ${request.routeOptions.url ?? 'unmatched'}`, {
      parent: headerOf(request.headers['traceparent']),
      attributes: { 'http.request.method': request.method, 'request.id': request.id },
    });
    // The answer must have left within `writetimeout`; every client of the request gets what is left of it.
    request.core = newRequestContext(request, span.traceparent, services.config.current.server.writetimeout);
    spans.set(request.core, span);
    request.log = request.log.child({ trace_id: span.traceId });
    reply.header('x-request-id', request.id);
    const leave = services.traffic.enter();
    // Also when the client goes away and no answer is ever made.
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
 * A client that does not read its answer does not keep its connection. To be registered behind the commit: when that fails,
 * the refusal has its own time to leave.
 */
export function cutSlowReaders(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const leftMs = Math.max(lastWordMs, request.core.deadline - Date.now());
    const cut = setTimeout(() => reply.raw.destroy(), leftMs);
    reply.raw.once('close', () => clearTimeout(cut));
    done(null, payload);
  });
}

function shuttingDown(reply: FastifyReply): AppError {
  reply.header('connection', 'close');
  return new AppError('shutting_down', 'This process is stopping and takes no new requests; try again.', {
    details: { retryAfterSeconds: 1 },
  });
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
