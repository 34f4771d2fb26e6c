import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UnitOfWork } from '#entities/kit/unit-of-work.ts';
import type { Services } from '../services.ts';

/** What resolvers work with. One operation is one unit of work. */
export interface GraphqlContext {
  readonly services: Services;
  readonly fastify: { readonly request: FastifyRequest; readonly reply: FastifyReply };
  unit: UnitOfWork;
  /** Fields of records selected so far (`server.complexitylimit`). */
  selectedFields?: number;
}
