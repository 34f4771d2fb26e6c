import { createRegistry } from './kit/model/registry.ts';
import { emailVerification } from './identity/email-verification.ts';
import { file } from './files/file.ts';
import { group } from './groups/group.ts';
import { groupMembership } from './groups/group-membership.ts';
import { groupSetting } from './groups/group-setting.ts';
import { invite } from './organizations/invite.ts';
import { membership } from './organizations/membership.ts';
import { note } from './work/note.ts';
import { organizationModule } from './organizations/organization-module.ts';
import { organizationSetting } from './organizations/organization-setting.ts';
import { organization } from './organizations/organization.ts';
import { tag } from './work/tag.ts';
import { task } from './work/task.ts';
import { user } from './identity/user.ts';

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
