import type { GraphQLSchema } from 'graphql';
import { registry } from '#entities/index.ts';
import { actions } from '../actions/kit/found-actions.ts';
import { actionField } from './derived/action-field.ts';
import { deriveSchema } from './derived/derive-schema.ts';
import { explainAccess } from './fields/explain-access.ts';
import { notificationInboxField } from './fields/notification-inbox-field.ts';
import { self } from './fields/self.ts';

/**
 * The GraphQL schema: what is derived from the kinds and from the actions, and the fields that are written by hand. Printed below
 * `api/graphql/schema`.
 */
export function productSchema(kinds = registry): GraphQLSchema {
  return deriveSchema(kinds, [self, explainAccess, notificationInboxField, ...actions.map(actionField)]);
}
