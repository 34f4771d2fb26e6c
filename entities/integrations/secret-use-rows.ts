import type { Work } from '../kit/storage/work.ts';

/**
 * Notes that the server uses a secret now, at most once a minute. It is an observation of the server: it has no version, no history and no
 * event. Somebody who changes the secret at the same time is not waited for.
 */
export async function noteSecretUse(work: Work, id: string): Promise<void> {
  await work.runAsSystem(
    `update secrets set last_used_at = $2 where id = (select id from secrets
       where id = $1 and (last_used_at is null or last_used_at <= $2::timestamptz - interval '1 minute') for update skip locked)`,
    [id, work.clock.now()],
  );
}
