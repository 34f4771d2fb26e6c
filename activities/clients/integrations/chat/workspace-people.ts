import type { Page, ProviderContext } from '../definition.ts';
import { invalidAnswer } from '../provider-answer.ts';
import { calling, openWorkspace } from './chat-client.ts';

const pageSize = 200;

/** Longest position that the platform may give. */
const maxCursorLength = 2_000;

interface Member {
  readonly id?: unknown;
  readonly is_bot?: unknown;
  readonly is_stranger?: unknown;
  readonly is_restricted?: unknown;
}

/** User of the platform itself, which every workspace has. */
const platformUser = 'USLACKBOT';

/** A page of the people of the workspace: one request. @throws ProviderError */
export async function readDirectoryPage(context: ProviderContext, cursor?: string): Promise<Page> {
  const client = await openWorkspace(context);
  const { members, response_metadata: metadata } = await calling(() =>
    client.users.list({ limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }),
  );
  if (!Array.isArray(members)) throw invalidAnswer('its answer is no page of people');
  const next: unknown = metadata?.next_cursor ?? '';
  if (typeof next !== 'string' || next.length > maxCursorLength)
    throw invalidAnswer('the position of its next page is none');
  if (next !== '' && next === cursor) throw invalidAnswer('its page names itself as the next one');
  const wanted = (members as readonly (Member | null)[]).filter((member) => isPerson(member, context));
  return {
    records: wanted.map((payload) => ({ kind: 'directoryAccount', payload })),
    ...(next === '' ? {} : { next }),
  };
}

/** Bots and people of other workspaces with which channels are shared are none of the organization. */
function isPerson(member: Member | null, { userInput }: ProviderContext): boolean {
  if (member?.id === platformUser || member?.is_bot === true || member?.is_stranger === true) return false;
  return member?.is_restricted !== true || userInput['includeGuestUsers'] === true;
}
