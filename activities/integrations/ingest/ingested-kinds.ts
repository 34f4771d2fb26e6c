import { directoryAccount } from '#entities/integrations/directory-account.ts';
import { directoryGroup } from '#entities/integrations/directory-group.ts';
import { directoryMembership } from '#entities/integrations/directory-membership.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { PassColumn } from '#entities/integrations/run-progress-rows.ts';
import type { IngestedKind } from '../../clients/integrations/definition.ts';

/** A kind whose records come in, and what mappings give. */
interface KindToIngest {
  readonly module: EntityModule;
  /** Fields that a mapping can give; a field that it leaves out is emptied. All others belong to the server. */
  readonly fields: readonly string[];
  readonly seen: PassColumn;
  readonly removed: PassColumn;
}

/** In the order in which they are written: memberships refer to the others. */
export const kindsToIngest: Readonly<Record<IngestedKind, KindToIngest>> = {
  directoryAccount: {
    module: directoryAccount,
    fields: [
      'externalId',
      'userName',
      'email',
      'displayName',
      'givenName',
      'familyName',
      'isActive',
      'reference',
      'attributes',
    ],
    seen: 'seen_accounts',
    removed: 'removed_accounts',
  },
  directoryGroup: {
    module: directoryGroup,
    fields: ['externalId', 'displayName', 'email', 'description', 'reference', 'attributes'],
    seen: 'seen_groups',
    removed: 'removed_groups',
  },
  directoryMembership: {
    module: directoryMembership,
    fields: ['account', 'group', 'role'],
    seen: 'seen_memberships',
    removed: 'removed_memberships',
  },
};
