import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { workOf, type RequestContext } from '../request-context.ts';
import type { Services } from '../services.ts';

/**
 * Ends the unit of work before the response is sent: COMMIT for success, ROLLBACK for every error. Runs after
 * serialization, so a response that cannot be serialized is rolled back. A failed commit becomes an error response, for which this
 * hook runs again and rolls back.
 */
export function unitOfWorkPlugin(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const unit = request.core.unit;
    // A promise would cost each request without a unit of work turns of the event loop.
    if (unit?.state !== 'open') return done(null, payload);
    return reply.statusCode < 400 ? unit.commit() : unit.rollback();
  });
  // The client disconnected before the response.
  app.addHook('onRequestAbort', async (request) => {
    // A request that waits for the answer before its own has no context yet.
    await (request.core as RequestContext | undefined)?.unit?.rollback();
  });
}

/** The unit of work of this request, created at the first call. */
export function unitOf(request: FastifyRequest, services: Services): UnitOfWork {
  const { core } = request;
  core.unit ??= services.database.unitOfWork(workOf(core));
  return core.unit;
}
