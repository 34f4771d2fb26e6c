import type { Envelope, Page, ProviderContext } from '../definition.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { invalidAnswer } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';
import { askAsInstallation, asking } from './app-client.ts';

const pageSize = 100;

interface Team {
  readonly id: string;
  readonly slug: string;
}

/** Position in a pass: members of the organization, then page by page teams, each page followed by the members of its teams. */
type Position = (
  | { readonly at: 'members' | 'teams' }
  | {
      readonly at: 'team';
      /** Teams of the page whose members are not read yet; the first is the current one. */
      readonly teams: readonly [Team, ...Team[]];
      readonly nextTeams?: Position;
    }
) & {
  readonly page: number;
  /** Id of the first record of the page before: the same one again is no next page. */
  readonly before?: string;
};

interface Answer {
  readonly records: readonly Record<string, unknown>[];
  readonly next?: Pick<Position, 'page' | 'before'>;
}

/** A page of members, teams or members of a team: one request to the code host. @throws ProviderError */
export async function readDirectoryPage(context: ProviderContext, cursor?: string): Promise<Page> {
  if (context.credential['isOrganization'] !== true)
    throw new ProviderError(
      'refused',
      'The app is installed for the account of a person, which has no members. Install it for an organization.',
    );
  const position: Position = cursor === undefined ? { at: 'members', page: 1 } : (JSON.parse(cursor) as Position);
  const { records, next } = await readAt(context, position);
  return { records, ...(next ? { next: JSON.stringify(next) } : {}) };
}

interface Read {
  readonly records: readonly Envelope[];
  readonly next?: Position | undefined;
}

async function readAt(context: ProviderContext, position: Position): Promise<Read> {
  if (position.at === 'team') return readTeam(context, position);
  const org = keptText(context.credential, 'login');
  const ask = await askAsInstallation(context);
  const parameters = { org, per_page: pageSize, page: position.page };
  if (position.at === 'members') {
    const { records, next } = await pageOf(() => ask('GET /orgs/{org}/members', parameters), position);
    return {
      records: records.map((payload) => ({ kind: 'directoryAccount', payload })),
      next: next ? { at: 'members', ...next } : { at: 'teams', page: 1 },
    };
  }
  const { records, next } = await pageOf(() => ask('GET /orgs/{org}/teams', parameters), position);
  return {
    records: records.map((payload) => ({ kind: 'directoryGroup', payload })),
    next: teamsOrNext(records.flatMap(teamOf), next ? { at: 'teams', ...next } : undefined),
  };
}

/** Members of a team, also those of teams below it. */
async function readTeam(context: ProviderContext, position: Position & { readonly at: 'team' }): Promise<Read> {
  const { teams, page, nextTeams } = position;
  const [{ id, slug }, ...others] = teams;
  const after = teamsOrNext(others, nextTeams);
  const ask = await askAsInstallation(context);
  const parameters = {
    org: keptText(context.credential, 'login'),
    team_slug: slug,
    per_page: pageSize,
    page,
  };
  try {
    const { records, next } = await pageOf(
      () => ask('GET /orgs/{org}/teams/{team_slug}/members', parameters),
      position,
    );
    return {
      records: records.map((user) => ({ kind: 'directoryMembership', payload: { team: id, user } })),
      next: next ? { at: 'team', teams, ...next, ...(nextTeams ? { nextTeams } : {}) } : after,
    };
  } catch (error) {
    // The team was deleted after it was listed; the next pass does not have it.
    if (error instanceof ProviderError && error.code === 'not_found') return { records: [], next: after };
    throw error;
  }
}

function teamsOrNext(teams: readonly Team[], nextTeams: Position | undefined): Position | undefined {
  const [team, ...others] = teams;
  if (!team) return nextTeams;
  return { at: 'team', teams: [team, ...others], page: 1, ...(nextTeams ? { nextTeams } : {}) };
}

interface LibraryAnswer {
  readonly data: unknown;
  readonly headers: { readonly link?: string | undefined };
}

async function pageOf(work: () => Promise<LibraryAnswer>, { page, before }: Position): Promise<Answer> {
  const { data, headers } = await asking(work);
  if (!Array.isArray(data)) throw invalidAnswer('its answer is no page of records');
  const records = (data as readonly unknown[]).map((record) => (record ?? {}) as Record<string, unknown>);
  const first = JSON.stringify(records[0]?.['id']);
  if (records.length === 0 || !hasNext(headers.link)) return { records };
  if (first !== undefined && first === before) throw invalidAnswer('its next page is the one before');
  return { records, next: { page: page + 1, ...(first === undefined ? {} : { before: first }) } };
}

/** Whether there is a next page (RFC 8288). Its URL is not used: pages have numbers. */
function hasNext(link = ''): boolean {
  return /;\s*rel="next"/.test(link);
}

function teamOf({ id, slug }: Record<string, unknown>): Team[] {
  return typeof id === 'string' && typeof slug === 'string' && slug !== '' ? [{ id, slug }] : [];
}
