import { asOwner } from './as-owner.ts';
import type { World } from './world.ts';

/** Every row of every table as text, by table. */
export async function databaseDump(world: Pick<World, 'databaseUrl'>): Promise<Map<string, string[]>> {
  const tables = await asOwner<{ name: string }>(
    world,
    `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition
       and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const dump = new Map<string, string[]>();
  for (const { name } of tables) {
    const rows = await asOwner<{ row: string }>(world, `select to_jsonb(t)::text as row from ${name} t order by 1`);
    dump.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return dump;
}
