import type { Role } from '../model/caller.ts';
import type { MembershipState } from './principal-state.ts';
import type { Work } from '../storage/work.ts';

/** Whether a person may act in an organization, in a session that began in a certain way. */
export interface Entry extends Pick<MembershipState, 'heldModules' | 'lacksSecondFactor'> {
  /** The strongest role of the person in the organization or one of its ancestors, whatever the session. */
  readonly role: Role | null;
  /** The organization whose single sign-on is required, and did not begin the session; null for none. */
  readonly requiredSignOn: string | null;
  /** Whether the session began with the single sign-on of another organization, in which alone it is valid. */
  readonly isElsewhere: boolean;
}

/** The single sign-on with which a session began; all are null for other ways to sign in. */
export interface SignOn {
  readonly singleSignOnId: string | null;
  /** `revision` of its provider: the session ends when another provider takes its place. */
  readonly singleSignOnRevision: string | null;
  /** The membership with which it let the person in: the session ends with it, and no later membership brings it back. */
  readonly singleSignOnMembershipId: string | null;
}

/** Of a sign-in in another way. */
export const noSignOn: SignOn = {
  singleSignOnId: null,
  singleSignOnRevision: null,
  singleSignOnMembershipId: null,
};

/** Whether the provider and the membership with which somebody signed in are still there. The rule is that of `request_context`. */
export async function isSignOnCurrent(work: Work, signOn: SignOn): Promise<boolean> {
  const session = await work.readAs('app');
  const { rows } = await session.query<{ is: boolean }>('select is_sign_on_current($1, $2, $3) as is', [
    signOn.singleSignOnId,
    signOn.singleSignOnRevision,
    signOn.singleSignOnMembershipId,
  ]);
  return rows[0]?.is === true;
}

/**
 * The id of the membership that gives a person the strongest role in an organization: one there or in an organization above. Records that
 * must end with the membership name it.
 */
export async function decidingMembership(work: Work, userId: string, organizationId: string): Promise<string | null> {
  const session = await work.readAs('app');
  const { rows } = await session.query<{ id: string | null }>('select deciding_membership($1, $2) as id', [
    userId,
    organizationId,
  ]);
  return rows[0]?.id ?? null;
}

/** Whether a membership has not ended, in whichever organization. */
export async function isMembershipLive(work: Work, membershipId: string): Promise<boolean> {
  const rows = await work.rowsAsSystem('select 1 from memberships where id = $1 and deleted_at is null', [
    membershipId,
  ]);
  return rows.length > 0;
}

/**
 * Whether somebody has been a member of an organization before, left it or was removed: the person, or whoever has linked the identity
 * of its single sign-on or has had the address before them, with an account that was deleted, for example.
 */
export async function wasMember(
  work: Work,
  userId: string,
  organizationId: string,
  { issuer, subject, email }: { readonly issuer: string; readonly subject: string; readonly email: string | null },
): Promise<boolean> {
  const session = await work.readAs('app');
  const { rows } = await session.query<{ is: boolean }>('select was_member($1, $2, $3, $4, $5) as is', [
    userId,
    organizationId,
    issuer,
    subject,
    email ?? '',
  ]);
  return rows[0]?.is === true;
}

/**
 * Reads whether a session may act in an organization. The rule is that of `request_context`, which applies it to every request.
 * @param singleSignOnId of the session; null for other ways to sign in
 */
export async function readEntry(
  work: Work,
  userId: string,
  organizationId: string,
  singleSignOnId: string | null,
): Promise<Entry> {
  const session = await work.readAs('app');
  const { rows } = await session.query<EntryRow>(`select ${entryColumns} from organization_entry($1, $2, $3) entry`, [
    userId,
    organizationId,
    singleSignOnId ?? '',
  ]);
  return entryOf(rows[0]);
}

export const entryColumns = 'entry.role, entry.gap, entry.modules, entry.lacks_second_factor';

export interface EntryRow {
  readonly role: Role | null;
  readonly gap: string | null;
  readonly modules: MembershipState['heldModules'];
  readonly lacks_second_factor: boolean;
}

/** @param row of `organization_entry`, which has one unless the organization is gone */
export function entryOf(row: EntryRow | undefined): Entry {
  const { role = null, gap = null, modules = [], lacks_second_factor: lacksSecondFactor = false } = row ?? {};
  // The function returns an empty text for a session that is valid elsewhere.
  const signOn = { requiredSignOn: gap === '' ? null : gap, isElsewhere: gap === '' };
  return { role, ...signOn, heldModules: modules, lacksSecondFactor };
}
