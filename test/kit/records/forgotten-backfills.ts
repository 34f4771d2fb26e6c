import { asOwner } from '../as-owner.ts';
import type { World } from '../world.ts';

/** As if there had been no run; no history is left without its record. */
export function forgetBackfillRuns(world: World, routine: string): Promise<unknown> {
  return asOwner(
    world,
    `with gone as (delete from backfill_runs where routine = $1 returning id),
       announced as (delete from events where entity_id in (select id from gone))
     delete from history where entity_id in (select id from gone)`,
    [routine],
  );
}
