import { Type } from 'typebox';

/** Roles that a directory can give. */
const directoryRoles = ['admin', 'member', 'auditor'] as const;
export type DirectoryRole = (typeof directoryRoles)[number];

/** Settings of every directory. */
export const directorySettings = {
  roleGroups: Type.Optional(
    Type.Array(
      Type.Object(
        {
          group: Type.String({
            minLength: 1,
            maxLength: 256,
            description:
              'Id or name of the group in the directory. A name that several groups have gives no role, and an id goes before a name.',
          }),
          role: Type.Enum([...directoryRoles], { description: 'Role of its people in the organization.' }),
        },
        { additionalProperties: false },
      ),
      {
        maxItems: 100,
        description:
          'Roles of people by their groups, for the primary directory; the first that applies is given, and `member` without one. No directory gives the roles owner and super_admin.',
      },
    ),
  ),
};

/** Setting of directories that can be read without their groups. */
export const disableGroupSync = Type.Optional(
  Type.Boolean({ default: false, description: 'Brings in users only, without groups and memberships.' }),
);

/** A setting by which the people of a group have a role. */
export interface RoleGroup {
  /** Id or name of the group in the directory. */
  readonly group: string;
  readonly role: DirectoryRole;
}

/** @param userInput settings of the integration */
export function roleGroupsOf(userInput: unknown): readonly RoleGroup[] {
  const { roleGroups = [] } = (userInput ?? {}) as { readonly roleGroups?: readonly RoleGroup[] };
  return roleGroups;
}
