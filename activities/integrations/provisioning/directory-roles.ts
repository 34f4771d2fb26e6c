import type { integration } from '#entities/integrations/integration.ts';
import { groupsNamed, type NamedGroup } from '#entities/integrations/provisioning-rows.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { roleGroupsOf, type DirectoryRole } from '../../clients/integrations/directory-settings.ts';

/** The role of a person, by the ids of the groups in which they are. */
export type RoleOfGroups = (groupIds: readonly string[]) => DirectoryRole;

/** Roles that a directory gives, by the groups that it has now. @param unit of the server */
export async function readDirectoryRoles(
  unit: UnitOfWork,
  { id, userInput }: Pick<RowOf<typeof integration>, 'id' | 'userInput'>,
): Promise<RoleOfGroups> {
  const settings = roleGroupsOf(userInput);
  const named = settings.map(({ group }) => group);
  const groups = named.length > 0 ? await groupsNamed(unit, id, named) : [];
  const roles = settings.map(({ group, role }) => ({ groupId: groupMeant(groups, group)?.id, role }));
  return (groupIds) =>
    roles.find(({ groupId }) => groupId !== undefined && groupIds.includes(groupId))?.role ?? 'member';
}

/** In many directories everybody may make groups and name them, so a name never stands for an id, nor for one of several groups. */
function groupMeant(groups: readonly NamedGroup[], text: string): NamedGroup | undefined {
  const byId = groups.find(({ externalId }) => externalId === text);
  if (byId) return byId;
  const byName = groups.filter(({ displayName }) => displayName === text);
  return byName.length === 1 ? byName[0] : undefined;
}
