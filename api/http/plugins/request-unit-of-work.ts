import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { keep, sentAnswer, type KeptAnswer, type KeyedRequest } from '../idempotent-requests.ts';
import { workOf, type RequestContext } from '../request-context.ts';
import type { Services } from '../services.ts';

/**
 * Ends the unit of work before the response is sent: COMMIT for success, ROLLBACK for every error. Runs after
 * serialization, so a response that cannot be serialized is rolled back. A failed commit becomes an error response, for which this
 * hook runs again and rolls back.
 */
export function unitOfWorkPlugin(app: FastifyInstance, services: Services): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const unit = request.core.unit;
    // A promise would cost each request without a unit of work ticks of the event loop.
    if (unit?.state !== 'open') return done(null, payload);
    if (reply.statusCode >= 400) return unit.rollback();
    const { keyed } = request.core;
    return keyed ? commitWithAnswer(unit, keyed, sentAnswer(reply, textOf(payload)), services) : unit.commit();
  });
  // The client disconnected before the response.
  app.addHook('onRequestAbort', async (request) => {
    // A request that waits for the answer before its own has no context yet.
    await (request.core as RequestContext | undefined)?.unit?.rollback();
  });
}

/** The answer is kept if, and only if, what it says is committed. */
async function commitWithAnswer(
  unit: UnitOfWork,
  keyed: KeyedRequest,
  answer: KeptAnswer,
  services: Services,
): Promise<void> {
  await keep(unit, keyed, answer, services);
  await unit.commit();
}

/** Routes whose answers are kept answer with text, or with nothing. */
function textOf(payload: unknown): string {
  if (payload === undefined || payload === null) return '';
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return String(payload);
  throw new TypeError('an answer that is kept is a text');
}

/** The unit of work of this request, created at the first call. */
export function unitOf(request: FastifyRequest, services: Services): UnitOfWork {
  const { core } = request;
  core.unit ??= services.database.unitOfWork(workOf(core));
  return core.unit;
}
