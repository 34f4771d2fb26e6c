import swagger from '@fastify/swagger';
import Fastify from 'fastify';
import { lazySchemaCompilers } from '#api/http/lazy-schema-compilers.ts';
import type { OpenApiDocument } from '#api/http/description/openapi-document.ts';
import { registerRoute } from '#api/http/route.ts';
import { openapiOptions } from '#api/openapi.ts';
import { routesOf } from '#api/rest/routes.ts';
import type { Registry } from '#entities/kit/model/registry.ts';

/** The description of the REST API with the defaults of the configuration. No route is called, so nothing has to run. */
export async function describeApi(registry: Registry): Promise<OpenApiDocument> {
  const app = Fastify({ schemaController: { compilersFactory: lazySchemaCompilers() } });
  await app.register(swagger, openapiOptions(registry));
  // The services are read by handlers only.
  for (const route of routesOf(registry)) registerRoute(app, undefined as never, route);
  await app.ready();
  const document = app.swagger() as OpenApiDocument;
  await app.close();
  return { ...document, servers: [{ url: '/' }] };
}
