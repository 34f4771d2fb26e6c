import { duration, flag, integer, object, text } from '../schema/field.ts';
import { postgresUrl } from '../schema/format.ts';

/** `db`. */
export const db = object('The relational database (PostgreSQL 15 or newer).', {
  debug: flag({ description: 'Logs every SQL statement with its duration, without parameter values.' }),
  databasename: text({
    description: 'Name of the database in traces (`db.namespace`) and metrics (label `database`).',
    default: 'core',
    maxLength: 100,
    restart: true,
  }),
  drivername: text({
    description: 'SQL driver. All three names select the same PostgreSQL driver.',
    values: ['postgres', 'pgx', 'postgresql'],
    default: 'postgres',
    restart: true,
  }),
  multiwrite: flag({
    description:
      'Writes every change to the secondary database as well, with two-phase commit; while the secondary database cannot be reached, changes are refused. Requires secondarydbsource.',
    restart: true,
  }),
  primarydbsource: text({
    description: 'Connection URL of the primary database.',
    format: postgresUrl,
    secret: 'url',
    required: true,
    restart: true,
  }),
  secondarydbsource: text({
    description:
      'Connection URL of the secondary database, used while multiwrite is on. It is filled at the first start. Its server must have `max_prepared_transactions` above 0, and its user the right to set `session_replication_role`.',
    format: postgresUrl,
    secret: 'url',
    restart: true,
  }),
  cachettl: duration({
    description:
      'Time for which results of read-only requests may be served from memory, to the same caller only. Records in responses may be outdated by this much where another process changed them; rights never are.',
    default: 0,
    minimum: 100,
    maximum: 3_600_000,
    special: [{ value: 0, meaning: 'no result cache' }],
  }),
  runmigrations: flag({
    description: 'Applies pending migrations at start. When off, the start fails if migrations are pending.',
    default: true,
    restart: true,
  }),
  migrationprovider: text({
    description: 'Tool that applies the migrations.',
    values: ['mikro-orm'],
    default: 'mikro-orm',
    restart: true,
  }),
  enablehistory: flag({
    description:
      'Writes a history row with every change. When off, no history is written; existing history rows can still be read.',
    default: true,
    restart: true,
  }),
  maxconnections: integer({
    description:
      'Maximum number of connections of this process to the primary database. One organization holds at most three quarters of them, and one person half. Requests that find no free connection are queued, organizations alternate, and requests get 503 when none becomes free in time.',
    unit: 'connections',
    default: 20,
    minimum: 2,
    maximum: 10_000,
    outside: '0 does not mean unlimited',
    restart: true,
  }),
  maxidleconnections: integer({
    description:
      'Maximum number of idle connections; further ones are opened for requests that have waited for 20 milliseconds, and closed once they were idle for 5 seconds. Must not exceed maxconnections.',
    unit: 'connections',
    default: 5,
    minimum: 0,
    maximum: 10_000,
    restart: true,
  }),
});
