import { directoryAccount } from '#entities/integrations/directory-account.ts';
import { directoryGroup } from '#entities/integrations/directory-group.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import type { Resource } from './define-scim-route.ts';
import { createGroup, patchGroup, replaceGroup, shownGroups } from './scim-groups.ts';
import { includes, type Projection } from './scim-lists.ts';
import type { ScimOperation } from './scim-patch.ts';
import { groupSchema, userSchema, type ScimSchema } from './scim-schemas.ts';
import type { ScimDirectory } from './scim-sender.ts';
import { createUser, patchUser, replaceUser, shownUsers } from './scim-users.ts';

/** A type of resources, and how they are written and shown. */
export interface ResourceType<Row> {
  readonly module: EntityModule;
  readonly schema: ScimSchema;
  readonly path: string;
  /** Singular and plural. */
  readonly names: readonly [string, string];
  readonly create: (directory: ScimDirectory, body: unknown) => Promise<Row>;
  readonly replace: (directory: ScimDirectory, held: Row, body: unknown) => Promise<Row>;
  readonly patch: (directory: ScimDirectory, held: Row, operations: readonly ScimOperation[]) => Promise<Row>;
  readonly shown: (directory: ScimDirectory, rows: readonly Row[], projection: Projection) => Promise<Resource[]>;
}

/** The row of a resource. */
export type Held = { readonly id: string; readonly recordVersion: number; readonly integrationId: string };

export const users: ResourceType<RowOf<typeof directoryAccount>> = {
  module: directoryAccount,
  schema: userSchema,
  path: '/Users',
  names: ['User', 'Users'],
  create: createUser,
  replace: replaceUser,
  patch: patchUser,
  shown: (directory, rows) => shownUsers(directory, rows),
};

export const groups: ResourceType<RowOf<typeof directoryGroup>> = {
  module: directoryGroup,
  schema: groupSchema,
  path: '/Groups',
  names: ['Group', 'Groups'],
  create: createGroup,
  replace: replaceGroup,
  patch: patchGroup,
  shown: (directory, rows, projection) => shownGroups(directory, rows, includes(projection, 'members')),
};
