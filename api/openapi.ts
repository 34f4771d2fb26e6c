import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { eventCatalogue } from '#entities/kit/model/event-catalogue.ts';
import { pascalCase } from '#entities/kit/base/snake-case.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { describeOperations } from './http/description/describe-operations.ts';
import { sharedValues } from './http/description/shared-values.ts';
import type { OpenApiDocument } from './http/description/openapi-document.ts';
import { defaultNames, securitySchemes } from './http/description/security.ts';
import { recordTags } from './rest/records/record-routes.ts';

/** Settings of the description at `/openapi.json`; its paths, schemas and errors come from the routes. */
export function openapiOptions(registry: Registry): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Core server',
        version: '1',
        license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
        description:
          'REST API of the core server. Mutating requests must send either the CSRF token or an Authorization header. All errors are problem documents (RFC 9457).',
      },
      tags: [
        {
          name: 'Account',
          description:
            'Sign-up, sign-in and sign-out, password and e-mail address, invitations, linked identities, and the rights of the caller.',
        },
        {
          name: 'Single sign-on',
          description:
            'Sign-in of the members of an organization with its own provider. A session that begins with it is valid only in the organization and in those below it; requests about the account or other organizations get permission_denied.',
        },
        { name: 'Acting as another user', description: 'Support access, and impersonation of members by managers.' },
        { name: 'Search', description: 'Full-text search over records of all kinds.' },
        ...recordTags(registry),
        {
          name: 'Workflow proposals',
          description: 'Held changes of all kinds: those who have made them submit, edit and withdraw them.',
        },
        {
          name: 'Billing',
          description:
            'Plan of the current organization, and pages of the payment provider on which it is paid and changed.',
        },
        {
          name: 'Events',
          description:
            'Status of the deliveries of events of the current organization to listeners of the server, for its managers.',
        },
        {
          name: 'Operations',
          description:
            'Events of all organizations, for operators of the installation: users to whom `npm run operators` gives this right. The API cannot give it.',
        },
        { name: 'Receivers', description: 'For other systems, which report events to this server and sign them.' },
        {
          name: 'SCIM',
          description: 'Directories that identity providers push: SCIM 2.0 (RFC 7643, RFC 7644), for each integration.',
        },
        { name: 'Pages', description: 'Pages for people without a client program, with their scripts and styles.' },
        { name: 'Service', description: 'Health checks, public keys and API descriptions.' },
      ],
      webhooks: webhooksOf(registry),
      components: { securitySchemes: securitySchemes(defaultNames) },
    },
    // The type of the library knows documents of other versions, too.
    transformObject: (document) =>
      describeOperations(
        ('openapiObject' in document ? document.openapiObject : {}) as OpenApiDocument,
        sharedValues(registry),
      ),
  };
}

/** The messages that endpoints receive, by type. */
function webhooksOf(registry: Registry) {
  const isPublic = eventCatalogue(registry).filter((type) => type.isPublic);
  return Object.fromEntries(
    isPublic.map(({ topic, description, schema, example }) => [
      topic,
      {
        post: {
          operationId: `receive${pascalCase(topic)}`,
          summary: description,
          tags: ['Webhook endpoints'],
          requestBody: {
            content: { 'application/json': { schema: { ...schema, title: `${pascalCase(topic)}Event` }, example } },
          },
          responses: { '2XX': { description: 'The message has arrived. All other responses are failed attempts.' } },
        },
      },
    ]),
  );
}
