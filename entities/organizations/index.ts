export { identityProvider } from './identity-provider.ts';
export { invite } from './invite.ts';
export { membership } from './membership.ts';
export { organizationModule } from './organization-module.ts';
export { organizationSetting } from './organization-setting.ts';
export { organization } from './organization.ts';
export { supportConsent } from './support-consent.ts';
