import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { aboutRecord, actor, peopleInCharge, type Occasion, type Person } from './audience.ts';
import type { MailContext } from './define-mail.ts';
import { shownName } from './shown-name.ts';

/** A token of an organization or a person, as mails name it. */
interface MailedToken {
  readonly isOfOrganization: boolean;
  readonly name: string;
  readonly hint: string;
}

/** The people responsible for a token: they notice a new secret that they did not expect. */
export async function ownersOfToken(occasion: Occasion<unknown>): Promise<Person[]> {
  const { entityKind, entityId } = occasion.event;
  if (entityKind !== personalAccessToken.topic) return peopleInCharge(occasion);
  // Deleted again before it was announced: its person was the one who acted.
  const held = await occasion.unit.data.findOne(personalAccessToken, { id: { eq: entityId } });
  const people = held ? [held] : actor(occasion);
  return people.map(({ userId }) => aboutRecord(occasion, userId));
}

/** The token of a mail; undefined for one that was deleted since. */
export async function mailedToken({
  input: { about },
  unit,
}: MailContext<unknown>): Promise<{ readonly token: MailedToken | undefined } | undefined> {
  if (!about) return undefined;
  const where = { id: { eq: about.id } };
  const ofOrganization = await unit.data.findOne(apiToken, where);
  const found = ofOrganization ?? (await unit.data.findOne(personalAccessToken, where));
  return {
    token: found && {
      isOfOrganization: ofOrganization !== undefined,
      // The creator of the token chooses its name.
      name: shownName(found.name) ?? 'whose name contains a link',
      hint: found.hint,
    },
  };
}

export function tokenInWords({ isOfOrganization, name }: MailedToken): string {
  return `${isOfOrganization ? 'API token of your organization' : 'token of your account'} ${name}`;
}

export const sampleToken: MailedToken = { isOfOrganization: true, name: '“Nightly export”', hint: 'x7Qa' };
export const tokenAdvice =
  'If you did not expect this, delete the token in the list of tokens, and change your password.';
