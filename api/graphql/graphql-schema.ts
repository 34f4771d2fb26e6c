import type { GraphQLSchema } from 'graphql';
import { registry } from '#entities/index.ts';
import { deriveSchema } from './derived/derive-schema.ts';
import { authorizePersonalAccessToken, deauthorizePersonalAccessToken } from './fields/token-authorizations.ts';
import { createOrganization } from './fields/create-organization.ts';
import { createApiToken, createPersonalAccessToken } from './fields/create-token.ts';
import { createOnboarding } from './fields/create-onboarding.ts';
import { groupJoinFields } from './fields/group-join-fields.ts';
import { resendInvite, withdrawInvite } from './fields/invitations.ts';
import { resendSubscriberVerification } from './fields/subscribers.ts';
import { rotateApiToken, rotatePersonalAccessToken } from './fields/rotate-token.ts';
import { explainAccess } from './fields/explain-access.ts';
import { createIntegrationWebhook, rotateIntegrationWebhook } from './fields/integration-webhooks.ts';
import { markAllNotificationsRead } from './fields/mark-all-notifications-read.ts';
import { notificationInboxField } from './fields/notification-inbox-field.ts';
import { self } from './fields/self.ts';
import { transferOwnership } from './fields/ownership.ts';
import { webhookEndpointFields } from './fields/webhook-endpoints.ts';
import { transferFields } from './fields/cancel-and-restart.ts';

/** The GraphQL schema: what is derived from the kinds, and the hand-written fields. Printed below `api/graphql/schema`. */
export function productSchema(kinds = registry): GraphQLSchema {
  return deriveSchema(kinds, [
    self,
    explainAccess,
    createOrganization,
    createOnboarding,
    createApiToken,
    createPersonalAccessToken,
    rotateApiToken,
    rotatePersonalAccessToken,
    authorizePersonalAccessToken,
    deauthorizePersonalAccessToken,
    resendInvite,
    withdrawInvite,
    ...groupJoinFields,
    resendSubscriberVerification,
    transferOwnership,
    markAllNotificationsRead,
    notificationInboxField,
    createIntegrationWebhook,
    rotateIntegrationWebhook,
    ...webhookEndpointFields,
    ...transferFields,
  ]);
}
