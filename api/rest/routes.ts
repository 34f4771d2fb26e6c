import type { Registry } from '#entities/kit/model/registry.ts';
import type { DownloadBases } from '#entities/kit/read/file-selection.ts';
import type { Route } from '../http/route.ts';
import { livez, ready, readyz } from './service/health.ts';
import { discovery, jwks } from './service/jwks.ts';
import { checkMailedLink } from './account/check-mailed-link.ts';
import { securityTxt } from './service/security-txt.ts';
import { changePassword } from './account/change-password.ts';
import { forgotPassword } from './account/forgot-password.ts';
import { login } from './account/login.ts';
import { directUploads } from './files/direct-uploads.ts';
import { resumableUploads } from './files/resumable-uploads.ts';
import { uploadFiles } from './files/upload-files.ts';
import { logout } from './account/logout.ts';
import { changeEmail } from './own-account/change-email.ts';
import { confirmEmailChange } from './own-account/confirm-email-change.ts';
import { deactivateAccount } from './own-account/deactivate-account.ts';
import { deleteAccount } from './own-account/delete-account.ts';
import { setDefaultOrganization } from './own-account/default-organization.ts';
import { ownAccessRoutes } from './own-account/own-access.ts';
import { ownMemberships } from './own-account/own-memberships.ts';
import { listRoles, ownFeatures, ownRoles, ownRolesElsewhere } from './own-account/own-roles.ts';
import { listOwnSuppressions, releaseOwnSuppression } from './own-account/own-suppressions.ts';
import { userinfoRoutes } from './own-account/userinfo.ts';
import { pages } from './pages/pages.ts';
import { reactivateAccount } from './own-account/reactivate-account.ts';
import { acceptInvite } from './people/accept-invite.ts';
import { onboard } from './people/onboarding-route.ts';
import { createOrganization } from './people/organization-route.ts';
import { declineInvite } from './people/decline-invite.ts';
import { verifyEmailDomains } from './people/email-domains.ts';
import { groupJoinRoutes } from './people/group-join-routes.ts';
import { resendInvite, withdrawInvite } from './people/resend-invite.ts';
import { resendSubscriberVerification } from './people/resend-subscriber.ts';
import { showInvite } from './people/show-invite.ts';
import { transferOwnership } from './people/transfer-ownership.ts';
import { resubscribe, showSubscription, unsubscribe } from './people/unsubscribe.ts';
import { verifySubscriber } from './people/verify-subscriber.ts';
import { authenticationOptions } from './passkeys/authentication-options.ts';
import { authenticationVerification } from './passkeys/authentication-verification.ts';
import { registrationOptions } from './passkeys/registration-options.ts';
import { registrationVerification } from './passkeys/registration-verification.ts';
import { relatedOrigins } from './passkeys/related-origins.ts';
import { endDelegation, endDelegationOfAnother } from './delegations/end-delegation.ts';
import { startImpersonation } from './delegations/start-impersonation.ts';
import { supportCallback } from './delegations/support-callback.ts';
import { supportLogin } from './delegations/support-login.ts';
import { docs, docsScript, docsStyle, errorDocs, home, openapi } from './service/reference.ts';
import { beginLink, unlinkIdentity } from './providers/identity-routes.ts';
import { providerRoutes } from './providers/provider-routes.ts';
import { enforceProvider, putProvider, testProvider, verifyDomains } from './single-sign-on/provider-settings.ts';
import { discoverSignOn } from './single-sign-on/discover-sign-on.ts';
import { singleSignOn, singleSignOnCallback } from './single-sign-on/single-sign-on-routes.ts';
import { tokenAuthorizationRoutes } from './single-sign-on/token-authorization-routes.ts';
import { transferRoutes } from './transfers/transfer-routes.ts';
import { webfinger } from './single-sign-on/webfinger.ts';
import { downloadFile } from './files/download-file.ts';
import { releaseSuppression } from './email/release-suppression.ts';
import { resendEmail } from './email/resend-email.ts';
import { emailReceivers } from './webhooks/email-receivers.ts';
import { webhookRoutes } from './integrations/webhook-routes.ts';
import { endpointRoutes } from './webhooks/endpoint-routes.ts';
import { deliveryRoutes } from './events/delivery-routes.ts';
import { operationsRoutes } from './events/operations-routes.ts';
import { workRoutes } from './events/work-routes.ts';
import { repairRoutes } from './events/repair-routes.ts';
import { requestTrace } from './events/request-trace-route.ts';
import { eventTypes } from './webhooks/event-types.ts';
import { messageRoutes } from './webhooks/message-routes.ts';
import { portalRoutes } from './webhooks/portal-routes.ts';
import { readNotifications } from './people/mark-notifications-read.ts';
import { previewTemplate } from './people/preview-template.ts';
import { readInbox } from './people/notification-inbox-route.ts';
import { recordRoutes } from './records/record-routes.ts';
import { searchRoute } from './records/search-route.ts';
import { refresh } from './account/refresh.ts';
import { register } from './account/register.ts';
import { resetPassword } from './account/reset-password.ts';
import { resend } from './account/resend.ts';
import { tokenRoutes } from './account/token-routes.ts';
import { switchOrganization } from './account/switch.ts';
import { verify } from './account/verify-email.ts';
import { confirmSecondFactor } from './second-factor/confirm.ts';
import { disableSecondFactor } from './second-factor/disable.ts';
import { replaceRecoveryCodes } from './second-factor/replace-recovery-codes.ts';
import { setUpSecondFactor } from './second-factor/setup.ts';
import { stepUp } from './second-factor/step-up.ts';
import { validateSecondFactor } from './second-factor/validate.ts';

/** Every REST route, in the order of the reference page. @param bases of the URLs of files in answers */
export const routesOf = (registry: Registry, bases: DownloadBases = {}): readonly Route[] => [
  livez,
  readyz,
  ready,
  jwks,
  securityTxt,
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
  resendInvite,
  withdrawInvite,
  ...groupJoinRoutes,
  verifySubscriber,
  unsubscribe,
  showSubscription,
  resubscribe,
  resendSubscriberVerification,
  createOrganization,
  onboard,
  verifyEmailDomains,
  transferOwnership,
  ...providerRoutes,
  singleSignOn,
  discoverSignOn,
  singleSignOnCallback,
  putProvider,
  testProvider,
  enforceProvider,
  verifyDomains,
  webfinger,
  beginLink,
  unlinkIdentity,
  ...transferRoutes,
  ...tokenRoutes,
  ...tokenAuthorizationRoutes,
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
  readNotifications,
  readInbox,
  previewTemplate,
  ...webhookRoutes,
  ...endpointRoutes,
  ...messageRoutes,
  ...portalRoutes,
  eventTypes,
  ...deliveryRoutes,
  ...operationsRoutes,
  ...workRoutes,
  requestTrace,
  ...repairRoutes,
  ...emailReceivers,
  resendEmail,
  releaseSuppression,
  searchRoute(registry, bases),
  ...recordRoutes(registry, bases),
  ...pages,
  home,
  openapi,
  docs,
  docsScript,
  docsStyle,
  errorDocs,
];
