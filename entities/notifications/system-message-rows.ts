import type { Work } from '../kit/storage/work.ts';

/**
 * How far a message to the operator's chat is, which cannot be asked what it has got. `sending`: handed over, and the answer is not
 * known; `waiting`: not posted, and tried again; `uncertain`: an attempt broke off, so nothing is sent again; `failed`: given up.
 */
export type SystemMessageState = 'sending' | 'waiting' | 'sent' | 'uncertain' | 'failed';

/** Time for which they are kept, in milliseconds. */
const retentionMs = 90 * 86_400_000;

const pruned = 1_000;

/**
 * Begins an attempt to post a message: committed before the request, so that whoever comes later knows that it may have been posted.
 * @param message what it is, for operators
 * @returns the state that was reached before, if nothing is to be sent; undefined when it is
 */
export async function beginSystemMessage(
  work: Work,
  key: string,
  message: string,
): Promise<'sent' | 'uncertain' | 'failed' | undefined> {
  const now = work.clock.now();
  const rowCount = await work.runAsSystem(
    `insert into system_messages as held (key, message, state, attempts, created_at, updated_at) values ($1, $2, 'sending', 1, $3, $3)
     on conflict (key) do update set state = 'sending', attempts = held.attempts + 1, updated_at = $3 where held.state = 'waiting'`,
    [key, message, now],
  );
  if (rowCount === 1) return undefined;
  const rows = await work.rowsAsSystem<{ state: 'sent' | 'uncertain' | 'failed' }>(
    `update system_messages set state = case state when 'sending' then 'uncertain' else state end, updated_at = $2
     where key = $1 returning state`,
    [key, now],
  );
  return rows[0]?.state;
}

/** Keeps how an attempt ended. @param error the platform's word, without secrets */
export async function noteSystemMessage(
  work: Work,
  key: string,
  state: SystemMessageState,
  error: string | null,
): Promise<void> {
  await work.runAsSystem(
    `update system_messages set state = $2, error = $3, updated_at = $4 where key = $1 and state in ('sending', 'waiting')`,
    [key, state, error, work.clock.now()],
  );
}

/** @returns whether there may be more */
export async function pruneSystemMessages(work: Work, at: Date): Promise<boolean> {
  const count = await work.runAsSystem(
    `delete from system_messages where key in (select key from system_messages where created_at < $1 order by created_at limit ${pruned})`,
    [new Date(at.getTime() - retentionMs)],
  );
  return count === pruned;
}
