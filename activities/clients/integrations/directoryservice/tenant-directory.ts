import type { Envelope, Page, ProviderContext } from '../definition.ts';
import { readGraphPage } from '../graph/graph-client.ts';
import { ProviderError } from '../provider-error.ts';

/** Position in a pass: users, then page by page groups, each page followed by the members of its groups. */
type Position =
  | { readonly at: 'users'; readonly link: string }
  | { readonly at: 'groups'; readonly link: string }
  | {
      readonly at: 'members';
      /** Groups of the page whose members are not read yet; the first is the current one. */
      readonly groups: readonly string[];
      /** Later page of the members of the current group. */
      readonly link?: string;
      /** Next page of groups. */
      readonly nextGroups?: string;
    };

const usersLink =
  '/users?$select=id,userPrincipalName,mail,displayName,givenName,surname,accountEnabled,userType,jobTitle,department&$top=999';
const groupsLink = '/groups?$select=id,displayName,mail,description,securityEnabled,groupTypes&$top=100';

/** A page of users, groups or members: one request to the graph. @throws ProviderError */
export async function readDirectoryPage(context: ProviderContext, cursor?: string): Promise<Page> {
  const position: Position = cursor === undefined ? { at: 'users', link: usersLink } : (JSON.parse(cursor) as Position);
  const { records, next } = await readAt(context, position);
  return { records, ...(next ? { next: JSON.stringify(next) } : {}) };
}

interface Read {
  readonly records: readonly Envelope[];
  readonly next?: Position | undefined;
}

function readAt(context: ProviderContext, position: Position): Promise<Read> {
  if (position.at === 'users') return readUsers(context, position.link);
  if (position.at === 'groups') return readGroups(context, position.link);
  return readMembers(context, position);
}

async function readUsers(context: ProviderContext, from: string): Promise<Read> {
  const { records, next } = await readGraphPage(context, from);
  const { includeGuestUsers, disableGroupSync } = context.userInput;
  const wanted = records.filter((user) => includeGuestUsers === true || !isGuest(user));
  const after: Position | undefined = disableGroupSync === true ? undefined : { at: 'groups', link: groupsLink };
  return {
    records: wanted.map((payload) => ({ kind: 'directoryAccount', payload })),
    next: next === undefined ? after : { at: 'users', link: next },
  };
}

async function readGroups(context: ProviderContext, from: string): Promise<Read> {
  const { records, next } = await readGraphPage(context, from);
  const groups = records.flatMap((group) => textId(group) ?? []);
  return {
    records: records.map((payload) => ({ kind: 'directoryGroup', payload })),
    next: membersOrGroups(groups, next),
  };
}

/** Members of a group, also those of groups in it: the graph unites them, whatever circles the groups form. */
async function readMembers(context: ProviderContext, position: Position & { readonly at: 'members' }): Promise<Read> {
  const { groups, link, nextGroups } = position;
  const [group = '', ...others] = groups;
  const path = `/groups/${encodeURIComponent(group)}/transitiveMembers/microsoft.graph.user?$count=true&$select=id,userType&$top=999`;
  const after = membersOrGroups(others, nextGroups);
  try {
    const { records, next } = await readGraphPage(context, link ?? path);
    const members = records.filter((user) => context.userInput['includeGuestUsers'] === true || !isGuest(user));
    return {
      records: members.map((user) => ({ kind: 'directoryMembership', payload: { group, user } })),
      next: next === undefined ? after : { ...position, link: next },
    };
  } catch (error) {
    // The group was deleted after it was listed; the next pass does not have it.
    if (error instanceof ProviderError && error.code === 'not_found') return { records: [], next: after };
    throw error;
  }
}

function membersOrGroups(groups: readonly string[], nextGroups: string | undefined): Position | undefined {
  if (groups.length > 0) return { at: 'members', groups, ...(nextGroups === undefined ? {} : { nextGroups }) };
  return nextGroups === undefined ? undefined : { at: 'groups', link: nextGroups };
}

/** The id of a record; undefined for a record without one, which the run names. */
function textId(record: unknown): string | undefined {
  const id = (record as { readonly id?: unknown } | null)?.id;
  return typeof id === 'string' && id !== '' && id.length <= 255 ? id : undefined;
}

function isGuest(user: unknown): boolean {
  return (user as { readonly userType?: unknown } | null)?.userType === 'Guest';
}
