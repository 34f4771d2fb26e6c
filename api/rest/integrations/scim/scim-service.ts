import { defaultCount, listDocument, maxCount } from './scim-lists.ts';
import { commonAttributes, enterpriseSchema, groupSchema, userSchema, type ScimSchema } from './scim-schemas.ts';

const configSchema = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
const schemaSchema = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
const typeSchema = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';

export const schemas = [userSchema, enterpriseSchema, groupSchema] as const;

/** Features that this service supports (RFC 7643, section 5). */
export function serviceProviderConfig(baseUrl: string): Record<string, unknown> {
  return {
    schemas: [configSchema],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: maxCount },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    pagination: {
      cursor: false,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize: defaultCount,
      maxPageSize: maxCount,
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The secret of the integration, in the header Authorization.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

export function shownSchema(schema: ScimSchema, baseUrl: string): Record<string, unknown> {
  // Attributes that every resource has are no part of the document, but for externalId (RFC 7643, section 3.1).
  const external = schema === enterpriseSchema ? [] : commonAttributes.filter(({ name }) => name === 'externalId');
  return {
    schemas: [schemaSchema],
    ...schema,
    attributes: [...external, ...schema.attributes],
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  };
}

export function resourceTypes(baseUrl: string): Record<string, unknown>[] {
  const typeOf = (name: string, endpoint: string, schema: ScimSchema, extensions: readonly ScimSchema[]) => ({
    schemas: [typeSchema],
    id: name,
    name,
    endpoint,
    description: schema.description,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  });
  return [typeOf('User', '/Users', userSchema, [enterpriseSchema]), typeOf('Group', '/Groups', groupSchema, [])];
}

export function wholeList(documents: readonly Record<string, unknown>[]): Record<string, unknown> {
  return listDocument(documents, documents.length, 1);
}
