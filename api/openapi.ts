import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { Registry } from '#entities/kit/model/registry.ts';
import { recordTags } from './rest/records/record-routes.ts';

/** The description served at `/openapi.json`; paths, schemas and errors come from the routes themselves. */
export function openapiOptions(registry: Registry): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Core server',
        version: '1',
        description:
          'REST interface of the core server. Mutating requests need the CSRF token, or bring their credential in the Authorization header. Every error is a problem document (RFC 9457).',
      },
      tags: [
        { name: 'Account', description: 'Signing up, confirming an address, signing in and out.' },
        ...recordTags(registry),
        { name: 'Service', description: 'Health, keys and descriptions.' },
      ],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          cookie: { type: 'apiKey', in: 'cookie', name: 'access_token' },
        },
      },
    },
  };
}
