import { deriveKey } from '#entities/kit/base/keys.ts';
import { oneTimeToken } from '#entities/kit/base/one-time-token.ts';
import { asOwner } from './as-owner.ts';
import type { World } from './world.ts';

/** The token of the latest sign-up with this address, whether or not a mail carries it. */
export async function verificationToken(world: World, email: string): Promise<string> {
  const [row] = await asOwner<{ id: string; round: number }>(
    world,
    'select id, round from email_verifications where email = $1 order by id desc limit 1',
    [email],
  );
  if (!row) throw new Error(`${email} was never asked to confirm anything`);
  const key = deriveKey(world.config.current.sessions.signingkey, 'one-time-token');
  return oneTimeToken(key, 'email-verification', row.id, row.round);
}
