import { createRegistry } from './kit/registry.ts';
import { emailVerification } from './email-verification.ts';
import { membership } from './membership.ts';
import { organizationSetting } from './organization-setting.ts';
import { organization } from './organization.ts';
import { user } from './user.ts';

export { emailVerification, membership, organization, organizationSetting, user };

/** Every kind of the product, in the order in which the printed descriptions list them. */
export const registry = createRegistry([user, organization, organizationSetting, membership, emailVerification]);
