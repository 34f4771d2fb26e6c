import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';

const CheckSchema = Type.Object(
  {
    status: Type.String({
      description:
        'up; down; or degraded: the dependency is not available, and the process serves all requests that do not need it.',
    }),
    reason: Type.Optional(Type.String({ description: 'Why the dependency cannot be used.' })),
    latency_ms: Type.Optional(Type.Number({ description: 'Time until it answered, in milliseconds (verbose).' })),
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When this process first found it in this status (verbose).',
      }),
    ),
    expires_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'Until when it can be used, for a certificate (verbose).' }),
    ),
  },
  { title: 'DependencyCheck' },
);
const ReadinessSchema = Type.Object(
  { status: Type.String(), checks: Type.Record(Type.String(), CheckSchema) },
  { title: 'Readiness' },
);

export const livez = defineRoute({
  method: 'GET',
  url: '/livez',
  operationId: 'getLiveness',
  tag: 'Service',
  summary: 'Liveness of the process',
  description: 'Checks no dependencies. Sets the CSRF cookie, like every GET request.',
  access: 'anonymous',
  whileStopping: true,
  answers: { 200: Type.Object({ status: Type.String() }), 503: Type.Object({ status: Type.String() }) },
  errors: [],
  handle: ({ services }) =>
    services.health.isStopping
      ? { status: 503, body: { status: 'shutting down' } }
      : { status: 200, body: { status: 'up' } },
});

const readiness = {
  method: 'GET',
  tag: 'Service',
  summary: 'Readiness of the process',
  description:
    'Reports for each dependency whether it is available; with `?verbose` also how long it took to answer, and since when it has its status.',
  query: Type.Object({
    verbose: Type.Optional(
      Type.String({ maxLength: 10, description: 'Present with any value: the response has more details.' }),
    ),
  }),
  access: 'anonymous',
  whileStopping: true,
  answers: { 200: ReadinessSchema, 503: ReadinessSchema },
  errors: [],
} as const;

export const [readyz, ready] = [
  ['/readyz', 'getReadiness'],
  ['/ready', 'getReady'],
].map(([url = '', operationId = '']) =>
  defineRoute({
    ...readiness,
    url,
    operationId,
    handle: async ({ services, query }) => {
      const { isReady, checks: found } = await services.health.report();
      const isVerbose = query['verbose'] !== undefined;
      const checks = Object.fromEntries(
        Object.entries(found).map(([name, { status, reason, latencyMs, since, expiresAt }]) => [
          name,
          {
            status,
            ...(reason === undefined ? {} : { reason }),
            ...(isVerbose ? { latency_ms: latencyMs, since, ...(expiresAt ? { expires_at: expiresAt } : {}) } : {}),
          },
        ]),
      );
      const status = services.health.isStopping ? 'shutting down' : isReady ? 'ready' : 'degraded';
      return { status: isReady ? 200 : 503, body: { status, checks } };
    },
  }),
) as [ReturnType<typeof defineRoute>, ReturnType<typeof defineRoute>];
