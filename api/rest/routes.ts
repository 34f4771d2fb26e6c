import type { Registry } from '#entities/kit/model/registry.ts';
import type { DownloadBases } from '#entities/kit/read/file-selection.ts';
import { actions } from '../actions/kit/found-actions.ts';
import type { KindOperation } from '../http/description/kind-operation.ts';
import type { Route } from '../http/route.ts';
import { livez, ready, readyz } from './service/health.ts';
import { discovery, jwks } from './service/jwks.ts';
import { checkMailedLink } from './identity/account/check-mailed-link.ts';
import { identityAssociation } from './service/identity-association.ts';
import { securityTxt } from './service/security-txt.ts';
import { changePassword } from './identity/account/change-password.ts';
import { forgotPassword } from './identity/account/forgot-password.ts';
import { login } from './identity/account/login.ts';
import { directUploads } from './files/direct-uploads.ts';
import { resumableUploads } from './files/resumable-uploads.ts';
import { uploadFiles } from './files/upload-files.ts';
import { logout } from './identity/account/logout.ts';
import { changeEmail } from './identity/own-account/change-email.ts';
import { confirmEmailChange } from './identity/own-account/confirm-email-change.ts';
import { deactivateAccount } from './identity/own-account/deactivate-account.ts';
import { deleteAccount } from './identity/own-account/delete-account.ts';
import { setDefaultOrganization } from './identity/own-account/default-organization.ts';
import { ownAccessRoutes } from './identity/own-account/own-access.ts';
import { ownMemberships } from './identity/own-account/own-memberships.ts';
import { listRoles, ownFeatures, ownRoles, ownRolesElsewhere } from './identity/own-account/own-roles.ts';
import { listOwnSuppressions, releaseOwnSuppression } from './identity/own-account/own-suppressions.ts';
import { userinfoRoutes } from './identity/own-account/userinfo.ts';
import { pages } from './pages/pages.ts';
import { reactivateAccount } from './identity/own-account/reactivate-account.ts';
import { acceptInvite } from './organizations/accept-invite.ts';
import { declineInvite } from './organizations/decline-invite.ts';
import { showInvite } from './organizations/show-invite.ts';
import { resubscribe, showSubscription, unsubscribe } from './notifications/unsubscribe.ts';
import { verifySubscriber } from './organizations/verify-subscriber.ts';
import { authenticationOptions } from './identity/passkeys/authentication-options.ts';
import { authenticationVerification } from './identity/passkeys/authentication-verification.ts';
import { registrationOptions } from './identity/passkeys/registration-options.ts';
import { registrationVerification } from './identity/passkeys/registration-verification.ts';
import { relatedOrigins } from './identity/passkeys/related-origins.ts';
import { endDelegation, endDelegationOfAnother } from './identity/delegations/end-delegation.ts';
import { startImpersonation } from './identity/delegations/start-impersonation.ts';
import { supportCallback } from './identity/delegations/support-callback.ts';
import { supportLogin } from './identity/delegations/support-login.ts';
import { docs, docsScript, docsStyle, errorDocs, home, openapi } from './service/reference.ts';
import { beginLink, unlinkIdentity } from './identity/providers/identity-routes.ts';
import { providerRoutes } from './identity/providers/provider-routes.ts';
import {
  enforceProvider,
  putProvider,
  testProvider,
  verifyDomains,
} from './identity/single-sign-on/provider-settings.ts';
import { discoverSignOn } from './identity/single-sign-on/discover-sign-on.ts';
import { singleSignOn, singleSignOnCallback } from './identity/single-sign-on/single-sign-on-routes.ts';
import { webfinger } from './identity/single-sign-on/webfinger.ts';
import { downloadFile } from './files/download-file.ts';
import { integrationCallback } from './integrations/auth-callback.ts';
import { scimRoutes } from './integrations/scim/scim-routes.ts';
import { receivers } from './webhooks/receivers.ts';
import { deliveryRoutes } from './events/delivery-routes.ts';
import { operationsRoutes } from './events/operations-routes.ts';
import { lifecycleRoutes } from './events/lifecycle-routes.ts';
import { removalRoutes } from './events/removal-routes.ts';
import { workRoutes } from './events/work-routes.ts';
import { repairRoutes } from './events/repair-routes.ts';
import { requestTrace } from './events/request-trace-route.ts';
import { eventTypes } from './webhooks/event-types.ts';
import { portalRoutes } from './webhooks/portal-routes.ts';
import { readInbox } from './notifications/notification-inbox-route.ts';
import { actionRoute } from './records/action-route.ts';
import { recordRoutes } from './records/record-routes.ts';
import { kindsRoute } from './records/kinds-route.ts';
import { searchRoute } from './records/search-route.ts';
import { refresh } from './identity/account/refresh.ts';
import { register } from './identity/account/register.ts';
import { resetPassword } from './identity/account/reset-password.ts';
import { resend } from './identity/account/resend.ts';
import { switchOrganization } from './identity/account/switch.ts';
import { verify } from './identity/account/verify-email.ts';
import { confirmSecondFactor } from './identity/second-factor/confirm.ts';
import { disableSecondFactor } from './identity/second-factor/disable.ts';
import { replaceRecoveryCodes } from './identity/second-factor/replace-recovery-codes.ts';
import { setUpSecondFactor } from './identity/second-factor/setup.ts';
import { stepUp } from './identity/second-factor/step-up.ts';
import { validateSecondFactor } from './identity/second-factor/validate.ts';

/**
 * Every REST route.
 * @param bases of the URLs of files in answers
 * @param operations of GraphQL, which `GET /v1/kinds` describes with the routes
 */
export function routesOf(
  registry: Registry,
  bases: DownloadBases = {},
  operations: readonly KindOperation[] = [],
): readonly Route[] {
  const routes = listed(registry, bases);
  return [...routes, kindsRoute(registry, { routes, operations })];
}

/** All others, in the order of the reference page. */
const listed = (registry: Registry, bases: DownloadBases): readonly Route[] => [
  livez,
  readyz,
  ready,
  jwks,
  securityTxt,
  identityAssociation,
  discovery,
  register,
  verify,
  resend,
  checkMailedLink,
  login,
  refresh,
  logout,
  switchOrganization,
  forgotPassword,
  resetPassword,
  changePassword,
  setUpSecondFactor,
  confirmSecondFactor,
  validateSecondFactor,
  stepUp,
  replaceRecoveryCodes,
  disableSecondFactor,
  ...userinfoRoutes,
  listRoles,
  ownRoles,
  ownRolesElsewhere,
  ownFeatures,
  ...ownAccessRoutes(registry),
  ownMemberships(registry),
  setDefaultOrganization,
  listOwnSuppressions,
  releaseOwnSuppression,
  changeEmail,
  confirmEmailChange,
  deactivateAccount,
  reactivateAccount,
  deleteAccount,
  showInvite,
  acceptInvite,
  declineInvite,
  verifySubscriber,
  unsubscribe,
  showSubscription,
  resubscribe,
  ...providerRoutes,
  singleSignOn,
  discoverSignOn,
  singleSignOnCallback,
  integrationCallback,
  ...scimRoutes,
  putProvider,
  testProvider,
  enforceProvider,
  verifyDomains,
  webfinger,
  beginLink,
  unlinkIdentity,
  supportLogin,
  supportCallback,
  startImpersonation,
  endDelegation,
  endDelegationOfAnother,
  registrationOptions,
  registrationVerification,
  authenticationOptions,
  authenticationVerification,
  relatedOrigins,
  uploadFiles(registry),
  ...directUploads(registry),
  ...resumableUploads(registry),
  downloadFile,
  readInbox,
  ...portalRoutes,
  eventTypes,
  ...deliveryRoutes,
  ...operationsRoutes,
  ...workRoutes,
  ...removalRoutes,
  ...lifecycleRoutes,
  requestTrace,
  ...repairRoutes,
  ...receivers,
  searchRoute(registry, bases),
  ...recordRoutes(registry, bases),
  ...actions.map(actionRoute),
  ...pages,
  home,
  openapi,
  docs,
  docsScript,
  docsStyle,
  errorDocs,
];
