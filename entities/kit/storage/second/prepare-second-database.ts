import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { AppError } from '../../base/errors.ts';
import { copiedTables, copyTable } from './first-copy.ts';
import { dropCapture, installCapture, removeCapture } from './row-capture.ts';
import { SecondDatabase } from './second-database.ts';
import { settlePrepared } from './settle-prepared.ts';

/** Leaves of the configuration object `db`. */
export interface Settings {
  readonly multiwrite: boolean;
  readonly primarydbsource: string;
  readonly secondarydbsource: string;
}

const connectTimeoutMs = 5_000;

interface State {
  readonly state: 'off' | 'copying' | 'on' | 'second';
  readonly epoch: string;
  readonly installation: string;
  readonly server: string;
  readonly database: string;
  readonly hasRecords: boolean;
}

/**
 * Brings the second database (`db.multiwrite`) to the state of the primary one, or ends writing to it. Both have this program's schema.
 * Several processes may call it at once; one works, the others wait.
 * @param tell called with steps that take time @throws AppError invalid_configuration when the second database cannot be used;
 * database_unavailable
 */
export async function prepareSecondDatabase(settings: Settings, tell: (message: string) => void): Promise<void> {
  await withClient(settings.primarydbsource, 'db.primarydbsource', async (primary) => {
    await primary.query('select pg_advisory_lock(1161906)');
    const own = await stateOf(primary);
    if (!settings.multiwrite) {
      if (own.state !== 'off') {
        await removeCapture(primary);
        // A second database that takes over.
        await primary.query(`update second_database set state = 'off', epoch = ''`);
        tell('Changes are written to one database only.');
      }
      return;
    }
    await withClient(settings.secondarydbsource, 'db.secondarydbsource', async (second) => {
      const other = await stateOf(second);
      await refuseUnusable(own, other, second);
      await settleLeftBehind(primary, settings);
      if (own.state === 'on' && other.epoch === own.epoch) return;
      await copyAll(primary, second, { installation: own.installation, tell });
    });
  });
}

/**
 * Compares the setting with the database, which has this program's schema.
 * @returns why changes of this process would be refused; undefined when they are not
 * @throws AppError database_unavailable
 */
export async function whySecondIsNotReady(settings: Settings): Promise<string | undefined> {
  return withClient(settings.primarydbsource, 'db.primarydbsource', async (primary) => {
    const { state } = await stateOf(primary);
    const isCaptured = state === 'on' || state === 'copying';
    if (isCaptured === settings.multiwrite) return undefined;
    return settings.multiwrite
      ? 'The changes of the database are not written to a second one yet (db.multiwrite).'
      : 'The changes of the database are still written to a second one, although db.multiwrite is off.';
  });
}

/** Everything is copied anew: what is in the second database may lack changes that were made while it was not written to. */
async function copyAll(
  primary: Client,
  second: Client,
  { installation, tell }: { readonly installation: string; readonly tell: (message: string) => void },
): Promise<void> {
  const epoch = randomUUID();
  tell('The second database is not up to date. All records are copied to it.');
  await primary.query(`update second_database set state = 'copying', epoch = $1`, [epoch]);
  const tables = await copiedTables(primary);
  // Nobody writes to the second database while it is emptied.
  await dropCapture(primary);
  await second.query(
    `with ours as (update installation set id = $1) update second_database set state = 'second', epoch = ''`,
    [installation],
  );
  await second.query(`truncate ${tables.map(({ name }) => name).join(', ')}`);
  // From here on, all changes are written to both.
  await installCapture(primary, tables);
  let rows = 0;
  for (const table of tables) rows += await copyTable(primary, second, table);
  await second.query('update second_database set epoch = $1', [epoch]);
  await primary.query(`update second_database set state = 'on'`);
  tell(`${rows} rows of ${tables.length} tables are in the second database.`);
}

async function settleLeftBehind(primary: Client, { secondarydbsource }: Settings): Promise<void> {
  const second = new SecondDatabase({
    url: secondarydbsource,
    applicationName: 'core migrations',
    maxConnections: 1,
    maxIdleConnections: 0,
    lockTimeoutMs: connectTimeoutMs,
    onBackgroundError: () => {},
  });
  try {
    await settlePrepared(async (text, values) => (await primary.query(text, [...values])).rows as never, second);
  } finally {
    await second.close();
  }
}

async function refuseUnusable(own: State, other: State, second: Client): Promise<void> {
  if (own.server === other.server && own.database === other.database)
    throw unusable('is the primary database', 'name another one');
  const isFresh = other.state === 'off' && !other.hasRecords;
  const isOurs = other.state === 'second' && other.installation === own.installation;
  if (!isFresh && !isOurs)
    throw unusable(
      'has records that are no copy of the primary database, which would be overwritten',
      'name an empty database',
    );
  const { rows } = await second.query<{ most: string }>(`select current_setting('max_prepared_transactions') as most`);
  if (Number(rows[0]?.most) === 0)
    throw unusable(
      'has a server whose max_prepared_transactions is 0',
      'set it to the number of connections of all processes, and start that server again',
    );
}

function unusable(problem: string, remedy: string): AppError {
  return new AppError('database_unavailable', `The database of db.secondarydbsource ${problem}: ${remedy}.`);
}

async function stateOf(client: Client): Promise<State> {
  const { rows } = await client.query<State>(
    `select s.state, s.epoch, i.id as installation, c.system_identifier::text as server, current_database() as database,
       exists (select from users) or exists (select from organizations) as "hasRecords"
     from second_database s, installation i, pg_control_system() c`,
  );
  return rows[0] as State;
}

/** A connection under which triggers of the second database do not fire. */
async function withClient<T>(url: string, setting: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'core migrations',
    ...(setting === 'db.secondarydbsource' ? { options: '-c session_replication_role=replica' } : {}),
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    if (code === '42501')
      throw unusable(
        `refuses session_replication_role (${message})`,
        'let a superuser of it GRANT SET ON PARAMETER session_replication_role to its user',
      );
    throw new AppError('database_unavailable', `The database cannot be reached (${setting}): ${message || code}.`, {
      cause,
      // A refusal of credentials or of the name stays one.
      ...(/^(?:28|3D)/u.test(code ?? '') ? {} : { details: { retryAfterSeconds: 1 } }),
    });
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
