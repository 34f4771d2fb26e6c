import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import { AppError, errorCatalogue, statusOf, type ErrorCode } from '#entities/kit/errors.ts';
import type { UnitOfWork } from '#entities/kit/unit-of-work.ts';
import { ProblemSchema } from './problem.ts';
import { unitOf } from './plugins/unit-of-work.ts';
import type { Services } from './services.ts';

/** What a handler works with. */
export interface Call<Body> {
  readonly body: Body;
  /** The request's unit of work; committed when the handler succeeds. Asking for it costs nothing until it is used. */
  readonly unit: UnitOfWork;
  readonly services: Services;
  readonly request: FastifyRequest;
  /** For cookies and headers only: a handler returns its answer. */
  readonly reply: FastifyReply;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** One REST route with everything its documentation says. Unknown body keys are refused, not stripped. */
export interface RouteDefinition<Body extends TObject> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly access: 'public' | 'required';
  readonly body?: Body;
  /** Answers by status. A text answer names its media type in `produces`. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly produces?: string;
  /** Refusals a caller has to expect here, besides those of every route. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (call: Call<Static<Body>>) => Promise<Answer> | Answer;
}

export type Route = RouteDefinition<TObject>;

export function defineRoute<Body extends TObject>(definition: RouteDefinition<Body>): Route {
  // The body's static type is only known here; Fastify has validated it before `handle` runs.
  return definition;
}

export function registerRoute(app: FastifyInstance, services: Services, route: Route): void {
  app.route({
    method: route.method,
    url: route.url,
    config: { access: route.access },
    schema: {
      summary: route.summary,
      description: route.description,
      tags: [route.tag],
      ...(route.body ? { body: route.body } : {}),
      ...(route.produces ? { produces: [route.produces] } : {}),
      response: { ...route.answers, ...errorAnswers(route.errors) },
    },
    handler: async (request, reply) => {
      const call: Call<never> = {
        body: request.body as never,
        get unit() {
          return unitOf(request, services);
        },
        services,
        request,
        reply,
      };
      const answer = await withinDeadline(request, route.handle(call));
      reply.code(answer.status);
      if (route.produces) reply.type(route.produces);
      return answer.body;
    },
  });
}

/** Refuses to wait longer than the request may take; what still runs finds its unit of work closed. */
async function withinDeadline<T>(request: FastifyRequest, work: Promise<T> | T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new AppError('deadline_exceeded', 'The request took longer than its deadline; nothing was changed.', {
            details: { retryAfterSeconds: 1 },
          }),
        ),
      Math.max(0, request.core.deadline - Date.now()),
    );
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}

function errorAnswers(codes: readonly ErrorCode[]): Record<number, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      {
        description: names.map((name) => `\`${name}\`: ${errorCatalogue[name].title}`).join(' '),
        content: { 'application/problem+json': { schema: ProblemSchema } },
      },
    ]),
  );
}
