import type { RequestListener } from 'node:http';
import swagger from '@fastify/swagger';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { parseDomain, parseEmail } from '#entities/kit/base/email-address.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { productSchema } from './graphql/graphql-schema.ts';
import { graphqlServer } from './graphql/graphql-server.ts';
import { kindOperations } from './graphql/kind-operations.ts';
import { addressesPlugin } from './http/plugins/addresses.ts';
import { answerHeadersPlugin, completeHeaders } from './http/plugins/answer-headers.ts';
import { authenticatePlugin, requireCaller } from './http/plugins/authenticate.ts';
import { bodiesPlugin, refuseCodedBodies } from './http/plugins/bodies.ts';
import { rejectMalformedRequests, refuseBrokenRequest } from './http/plugins/connections.ts';
import { crossOriginPlugin } from './http/plugins/cross-origin.ts';
import { cookiesPlugin, sendCookies } from './http/plugins/cookies.ts';
import { csrfPlugin } from './http/plugins/csrf.ts';
import { actingOrganization } from './http/plugins/acting-organization.ts';
import { delegationBanner } from './http/plugins/delegation-banner.ts';
import { errorsPlugin, refuseUnknownAddresses, sendProblem } from './http/plugins/error-answers.ts';
import { scimErrorForm } from './rest/integrations/scim/scim-error.ts';
import { openapiOptions } from './openapi.ts';
import { serializePipelinedRequests } from './http/plugins/pipelining.ts';
import { rateLimitPlugin } from './http/plugins/limit-rates.ts';
import { closeConnectionOnUnreadBody, capPendingResponses } from './http/plugins/unread.ts';
import { destroyStalledResponses, requestContextPlugin } from './http/plugins/assign-context.ts';
import { unitOfWorkPlugin } from './http/plugins/request-unit-of-work.ts';
import { resumableProtocol } from './http/plugins/resumable-protocol.ts';
import { lazySchemaCompilers } from './http/lazy-schema-compilers.ts';
import { asAppError } from './http/response/problem.ts';
import { newRequestContext } from './http/request-context.ts';
import { RequestLogger } from './http/request-logger.ts';
import { registerRoute, type Route } from './http/route.ts';
import { configuredDownloads, downloadBases } from './rest/files/download-file.ts';
import { fileAddressHint } from './rest/records/file-address-hint.ts';
import { routesOf } from './rest/routes.ts';
import { configuredKeySet } from './rest/service/jwks.ts';
import type { Services } from './http/services.ts';
import { timeouts } from './http/limits/timeouts.ts';
import { upgrades } from './http/upgrades.ts';
import { httpsServer } from './http/tls/https-server.ts';
import type { CertificateSource } from './http/tls/certificate-source.ts';

/** Maximum size of a request body in bytes; uploads have separate limits. */
const bodyLimit = 1_048_576;

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Creates the HTTP application. Requests pass the plugins in the order of their registration (ARCHITECTURE.md).
 * @param extraRoutes routes besides those of the product, for tests
 * @param certificate serves HTTPS with it; without it, HTTP
 */
export async function createApp(
  services: Services,
  extraRoutes: readonly Route[] = [],
  certificate?: CertificateSource,
): Promise<FastifyInstance> {
  const { server } = services.config.current;
  const { registry } = services.database.options;
  // Typed as Fastify's logger, so that the application has its default type.
  const loggerInstance: FastifyBaseLogger = services.logger;
  const limits = timeouts(server);
  const app = Fastify({
    loggerInstance,
    // The request context plugin writes the access log.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    childLoggerFactory: (logger, bindings) => new RequestLogger(logger, bindings).asLogger,
    bodyLimit,
    ...limits,
    http: { ...limits.http, ...upgrades },
    ...(certificate
      ? { serverFactory: (handler: RequestListener) => httpsServer(handler, certificate, services) }
      : {}),
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && requestIdPattern.test(given) ? given : newId();
    },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    schemaController: { compilersFactory: lazySchemaCompilers() },
    ajv: {
      customOptions: {
        removeAdditional: false,
        coerceTypes: false,
        useDefaults: true,
        allErrors: true,
        // Includes the schema in errors: its description explains patterns.
        verbose: true,
        // For types such as string or null.
        allowUnionTypes: true,
        // Decimal numbers (registry of OpenAPI); the data layer checks them.
        formats: { decimal: true },
        // Additions to descriptions; it checks nothing.
        keywords: [describedKeyword],
      },
      // After the formats of the library: addresses and domains are read in one way everywhere.
      onCreate: (validator) =>
        validator
          .addFormat('email', (text) => parseEmail(text) !== undefined)
          .addFormat('idn-hostname', (text) => parseDomain(text) !== undefined),
    },
    // Requests that reach no route, such as those with a malformed URL.
    frameworkErrors: (error, request, reply) => {
      request.core ??= newRequestContext(request, undefined, server.writetimeout);
      request.core.errorForm = scimErrorForm(request.url);
      void sendProblem(asAppError(error), request, reply.header('x-request-id', request.id), () =>
        completeHeaders(request, reply, services.config.current),
      );
    },
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket, services),
  });

  rejectMalformedRequests(app, services);
  serializePipelinedRequests(app);
  errorsPlugin(app, services);
  requestContextPlugin(app, services);
  addressesPlugin(app);
  crossOriginPlugin(app, services);
  rateLimitPlugin(app, services);
  resumableProtocol(app, services);
  refuseCodedBodies(app);
  bodiesPlugin(app);
  await cookiesPlugin(app);
  authenticatePlugin(app, services);
  csrfPlugin(app, services);
  requireCaller(app, services);
  delegationBanner(app);
  actingOrganization(app);
  refuseUnknownAddresses(app, fileAddressHint(registry), scimErrorForm);
  unitOfWorkPlugin(app, services);
  sendCookies(app);
  answerHeadersPlugin(app, services);
  destroyStalledResponses(app, services);
  closeConnectionOnUnreadBody(app);
  capPendingResponses(app);
  await app.register(swagger, openapiOptions(registry));

  const schema = productSchema(registry);
  const routes = [...routesOf(registry, downloadBases(services), kindOperations(schema)), ...extraRoutes];
  for (const route of routes) registerRoute(app, services, route);
  graphqlServer(app, services, schema);
  const isTaken = (url: string) => app.hasRoute({ method: 'GET', url });
  const keySet = configuredKeySet(services.config.current, isTaken);
  for (const route of [...(keySet ? [keySet] : []), ...configuredDownloads(services, isTaken)])
    registerRoute(app, services, route);
  return app;
}
