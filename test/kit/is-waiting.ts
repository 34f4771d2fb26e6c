import { asOwner } from './as-owner.ts';
import type { World } from './world.ts';

/** Whether somebody waits for a lock of another. */
export async function isWaiting(world: Pick<World, 'databaseUrl'>): Promise<boolean> {
  const waiting = await asOwner(
    world,
    `select pid from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
  );
  return waiting.length > 0;
}
