import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../as-owner.ts';
import type { World } from '../world.ts';

/**
 * Notes for keys of `sign_in_failures` whether their commit waits for the disk, which only PostgreSQL knows.
 * @returns makes keys that are noted, reads the setting of their commits, and removes what notes them
 */
export async function noteCommits(world: Pick<World, 'databaseUrl'>) {
  await asOwner(
    world,
    `create table noted_commits (key text, waits text);
     create function note_commit() returns trigger
       language plpgsql security definer set search_path = public, pg_temp as
       $$ begin insert into noted_commits values (new.key, current_setting('synchronous_commit')); return null; end $$;
     create constraint trigger note_commit after insert on sign_in_failures deferrable initially deferred
       for each row when (new.key like 'noted:%') execute function note_commit()`,
  );
  return {
    newKey: () => `noted:${newId()}`,
    settingOf: async (key: string) => {
      const text = 'select waits from noted_commits where key = $1';
      const [row] = await asOwner<{ waits: string }>(world, text, [key]);
      return row?.waits;
    },
    forget: () => asOwner(world, 'drop table noted_commits; drop function note_commit cascade'),
  };
}
