import type { Envelope, Page, ProviderContext } from '../definition.ts';
import { invalidAnswer, remedies } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';
import { calling, openDirectory, ownCustomer } from './admin-client.ts';

/** Position in a pass: users, then page by page groups, each page followed by the members of its groups. */
type Position =
  | { readonly at: 'users' | 'groups'; readonly token?: string }
  | {
      readonly at: 'members';
      /** Groups of the page whose members are not read yet; the first is the current one. */
      readonly groups: readonly string[];
      readonly token?: string;
      /** Next page of groups. */
      readonly nextGroups?: string;
    };

/** Longest position that the directory may give. */
const maxTokenLength = 4_096;

const [usersOnPage, groupsOnPage, membersOnPage] = [500, 200, 200];

/** A page of users, groups or members: one request to the directory. @throws ProviderError */
export async function readDirectoryPage(context: ProviderContext, cursor?: string): Promise<Page> {
  const position: Position = cursor === undefined ? { at: 'users' } : (JSON.parse(cursor) as Position);
  const { records, next } = await readAt(context, position).catch((error: unknown) => {
    // The directory gives positions that it refuses a few hours later.
    if (position.token === undefined || !(error instanceof ProviderError) || error.code !== 'refused') throw error;
    throw new ProviderError(
      'cursor_expired',
      `The position in the directory is not valid any more. ${remedies.cursor_expired}`,
    );
  });
  return { records, ...(next ? { next: JSON.stringify(next) } : {}) };
}

interface Read {
  readonly records: readonly Envelope[];
  readonly next?: Position | undefined;
}

async function readAt(context: ProviderContext, position: Position): Promise<Read> {
  if (position.at === 'members') return readMembers(context, position);
  const client = await openDirectory(context);
  const of = { customer: context.account?.id ?? ownCustomer, ...(position.token ? { pageToken: position.token } : {}) };
  if (position.at === 'users') {
    const found = await calling(() => client.users.list({ ...of, maxResults: usersOnPage, projection: 'basic' }));
    const token = nextToken(found, position.token);
    const after: Position | undefined = context.userInput['disableGroupSync'] === true ? undefined : { at: 'groups' };
    return {
      records: listOf(found.users).map((payload) => ({ kind: 'directoryAccount', payload })),
      next: token === undefined ? after : { at: 'users', token },
    };
  }
  const found = await calling(() => client.groups.list({ ...of, maxResults: groupsOnPage }));
  const groups = listOf(found.groups);
  return {
    records: groups.map((payload) => ({ kind: 'directoryGroup', payload })),
    next: membersOrGroups(groups.flatMap(idOf), nextToken(found, position.token)),
  };
}

/** Members of a group, also those of groups in it: the directory unites them, whatever circles the groups form. */
async function readMembers(context: ProviderContext, position: Position & { readonly at: 'members' }): Promise<Read> {
  const { groups, token, nextGroups } = position;
  const [group = '', ...others] = groups;
  const after = membersOrGroups(others, nextGroups);
  const client = await openDirectory(context);
  try {
    const found = await calling(() =>
      client.members.list({
        groupKey: group,
        includeDerivedMembership: true,
        maxResults: membersOnPage,
        ...(token === undefined ? {} : { pageToken: token }),
      }),
    );
    const later = nextToken(found, token);
    return {
      records: listOf(found.members)
        .filter(isUser)
        .map((user) => ({ kind: 'directoryMembership', payload: { group, user } })),
      next: later === undefined ? after : { ...position, token: later },
    };
  } catch (error) {
    // The group was deleted after it was listed; the next pass does not have it.
    if (error instanceof ProviderError && error.code === 'not_found') return { records: [], next: after };
    throw error;
  }
}

function membersOrGroups(groups: readonly string[], nextGroups: string | undefined): Position | undefined {
  if (groups.length > 0) return { at: 'members', groups, ...(nextGroups === undefined ? {} : { nextGroups }) };
  return nextGroups === undefined ? undefined : { at: 'groups', token: nextGroups };
}

/** Lists that would be empty are left out of answers. */
function listOf(list: unknown): readonly unknown[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw invalidAnswer('its answer is no page of records');
  return list;
}

/** The answer names it otherwise than the request, which takes `pageToken`. */
function nextToken(answer: object, current: string | undefined): string | undefined {
  const { nextPageToken: token } = answer as { readonly nextPageToken?: unknown };
  if (token === undefined || token === null || token === '') return undefined;
  if (typeof token !== 'string' || token.length > maxTokenLength)
    throw invalidAnswer('the position of its next page is none');
  if (token === current) throw invalidAnswer('its page names itself as the next one');
  return token;
}

function idOf(record: unknown): string[] {
  const id = (record as { readonly id?: unknown } | null)?.id;
  return typeof id === 'string' && id !== '' && id.length <= 255 ? [id] : [];
}

/** Members that are no users of the suite: groups, whole customers, and people from elsewhere. */
const otherTypes: ReadonlySet<unknown> = new Set(['GROUP', 'CUSTOMER', 'EXTERNAL']);

/** A member without a type is none of the others: the run names it, so that nothing is removed because of it. */
function isUser(member: unknown): boolean {
  return !otherTypes.has((member as { readonly type?: unknown } | null)?.type);
}
