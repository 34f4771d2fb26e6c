import { registry } from '#entities/index.ts';
import { deriveSchema } from './derive.ts';
import { createOrganization } from './fields/create-organization.ts';
import { explainAccess } from './fields/explain-access.ts';
import { self } from './fields/self.ts';

/** The product's GraphQL schema; printed as schema.graphql. */
export function productSchema() {
  return deriveSchema(registry, [self, explainAccess, createOrganization]);
}
