import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Services } from '../services.ts';

/**
 * Ends the request's unit of work before its answer leaves: COMMIT for success, ROLLBACK for every error answer, however
 * it arose (specification, Request transaction). It runs after serialization, so an answer that cannot be written is a
 * rollback too; and a failed commit becomes the error answer, which passes here once more and rolls back.
 */
export function unitOfWorkPlugin(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    const unit = request.core.unit;
    if (unit?.state !== 'open') return;
    if (reply.statusCode < 400) await unit.commit();
    else await unit.rollback();
  });
  // The client went away before an answer could be made: nothing may stay open.
  app.addHook('onRequestAbort', async (request) => {
    await request.core.unit?.rollback();
  });
}

/** The unit of work of this request, made at the first call. */
export function unitOf(request: FastifyRequest, services: Services): UnitOfWork {
  const { core } = request;
  core.unit ??= services.database.unitOfWork({
    caller: core.caller,
    requestId: core.requestId,
    traceparent: core.traceparent,
    deadline: core.deadline,
  });
  return core.unit;
}
