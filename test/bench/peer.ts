import { Logger, run, type Runner, type Task, type TaskList } from 'graphile-worker';

/** Where graphile-worker's task notes when it ran, for a `key`. */
export const peerTable = 'create table if not exists peer_deliveries (key text not null, at timestamptz not null)';

/** Writes a row, as our listener does. */
export const writeRow: Task = async (payload, helpers) => {
  await helpers.query('insert into peer_deliveries (key, at) values ($1, clock_timestamp())', [
    String((payload as { key: string | number }).key),
  ]);
};

/** A running graphile-worker with these tasks; its schema is there when this resolves. */
export function startPeer(databaseUrl: string, taskList: TaskList = { write_row: writeRow }): Promise<Runner> {
  return run({
    connectionString: databaseUrl,
    concurrency: 10,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList,
  });
}
