import { createRegistry } from './kit/registry.ts';
import { emailVerification } from './email-verification.ts';
import { file } from './file.ts';
import { group } from './group.ts';
import { groupMembership } from './group-membership.ts';
import { groupSetting } from './group-setting.ts';
import { invite } from './invite.ts';
import { membership } from './membership.ts';
import { note } from './note.ts';
import { organizationModule } from './organization-module.ts';
import { organizationSetting } from './organization-setting.ts';
import { organization } from './organization.ts';
import { tag } from './tag.ts';
import { task } from './task.ts';
import { user } from './user.ts';

export {
  emailVerification,
  file,
  group,
  groupMembership,
  groupSetting,
  invite,
  membership,
  note,
  organization,
  organizationModule,
  organizationSetting,
  tag,
  task,
  user,
};

/** Every kind of the product, in the order in which the printed descriptions list them. */
export const registry = createRegistry([
  user,
  organization,
  organizationModule,
  organizationSetting,
  membership,
  invite,
  group,
  groupSetting,
  groupMembership,
  task,
  note,
  tag,
  file,
  emailVerification,
]);

/** Which groups may create records; the kind follows from the rules of the others. */
export const creatorGrant = registry.byKind('creatorGrant');
