import { Client } from 'pg';
import { asOwner } from '../as-owner.ts';
import { eventually } from '../eventually.ts';
import type { World } from '../world.ts';

/** Holds a record locked until the test releases it. */
export async function holdRow(
  { databaseUrl }: Pick<World, 'databaseUrl'>,
  table: string,
  id: string,
  key = 'id',
): Promise<() => Promise<void>> {
  const holder = new Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query(`select 1 from ${table} where ${key} = $1 for update`, [id]);
  return async () => {
    await holder.query('rollback');
    await holder.end();
  };
}

/** Waits until this many connections wait for a lock. */
export async function waitForLocks(world: Pick<World, 'databaseUrl'>, count: number): Promise<void> {
  await eventually(async () => {
    const rows = await asOwner(
      world,
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length >= count;
  });
}
