import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import { oneTimeToken, type TokenPurpose } from '#entities/kit/base/secrets/one-time-token.ts';
import { asOwner } from '../as-owner.ts';
import type { World } from '../world.ts';

/** The token of the latest sign-up with this address, whether or not a mail carries it. */
export function verificationToken(world: World, email: string): Promise<string> {
  return latestToken(world, email, 'email-verification', 'select id, round from email_verifications');
}

/** The token of the latest link to set a new password, whether or not a mail carries it. */
export function resetToken(world: World, email: string): Promise<string> {
  return latestToken(world, email, 'password-reset', 'select id, 1 as round from password_resets');
}

/** The token of the latest invitation of an address, whether or not a mail carries it. */
export function inviteToken(world: World, email: string): Promise<string> {
  return latestToken(
    world,
    email,
    'invite',
    'select id, round from (select *, recipient as email from invites) as invited',
  );
}

/** The token that verifies the latest subscriber with an address, whether or not a mail carries it. */
export function subscriberToken(world: World, email: string): Promise<string> {
  return latestToken(world, email, 'subscriber-verification', 'select id, round from subscribers');
}

/** The token that ends the latest subscription of an address. */
export function unsubscribeToken(world: World, email: string): Promise<string> {
  return latestToken(world, email, 'unsubscribe', 'select id, 1 as round from subscribers');
}

/** The token of the latest link to change the address to this one, whether or not a mail carries it. */
export function emailChangeToken(world: World, newEmail: string): Promise<string> {
  const rows = 'select id, 1 as round, new_email as email from email_changes';
  return latestToken(world, newEmail, 'email-change', `select id, round from (${rows}) as changes`);
}

/** The token of the link that reactivates a deactivated account. */
export function reactivationToken(world: World, email: string): Promise<string> {
  return latestToken(world, email, 'reactivation', 'select id, record_version as round from users');
}

async function latestToken(world: World, email: string, purpose: TokenPurpose, rows: string): Promise<string> {
  const [row] = await asOwner<{ id: string; round: number }>(
    world,
    `${rows} where email = $1 order by id desc limit 1`,
    [email],
  );
  if (!row) throw new Error(`${email} was never asked for: ${purpose}`);
  const key = deriveKey(world.config.current.sessions.signingkey, 'one-time-token');
  return oneTimeToken(key, purpose, row.id, row.round);
}
