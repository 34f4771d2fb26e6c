import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { OperationBudget } from './documents/operation-budget.ts';
import type { Asking } from '../credentials/asking.ts';
import type { Services } from '../http/services.ts';

/** Services of resolvers. One operation is one unit of work. */
export interface GraphqlContext {
  readonly services: Services;
  readonly fastify: { readonly request: FastifyRequest; readonly reply: FastifyReply };
  unit: UnitOfWork;
  /** Records that the operation has selected so far. */
  budget?: OperationBudget;
}

/** The request of an operation, for what REST does alike. */
export function askingOf({ unit, services, fastify }: GraphqlContext): Asking {
  return { unit, services, request: fastify.request };
}
