import { duration, flag, integer, object, text } from '../schema/field.ts';
import { postgresUrl } from '../schema/format.ts';

/** `db` (specification: Database). */
export const db = object('The relational database (PostgreSQL 15 or newer).', {
  debug: flag({ description: 'Logs every statement with its duration, values left out.' }),
  databasename: text({
    description: 'Name of the database in traces and metrics.',
    default: 'core',
    maxLength: 100,
    restart: true,
  }),
  drivername: text({
    description: 'SQL driver. All three names mean the one PostgreSQL driver.',
    values: ['postgres', 'pgx', 'postgresql'],
    default: 'postgres',
    restart: true,
  }),
  multiwrite: flag({
    description: 'Writes every change to the secondary database too, by two-phase commit. Needs secondarydbsource.',
    restart: true,
  }),
  primarydbsource: text({
    description: 'URL of the primary database.',
    format: postgresUrl,
    secret: 'url',
    required: true,
    restart: true,
  }),
  secondarydbsource: text({
    description: 'URL of the secondary database, used when multiwrite is on. It needs max_prepared_transactions > 0.',
    format: postgresUrl,
    secret: 'url',
    restart: true,
  }),
  cachettl: duration({
    description: 'How long results of read-only requests may be answered from memory. Answers may be this stale.',
    default: 0,
    minimum: 100,
    maximum: 3_600_000,
    special: [{ value: 0, meaning: 'no result cache' }],
  }),
  runmigrations: flag({
    description: 'Runs missing migrations at start; off: start fails when migrations are missing.',
    default: true,
    restart: true,
  }),
  migrationprovider: text({
    description: 'Tool that runs the migrations.',
    values: ['mikro-orm'],
    default: 'mikro-orm',
    restart: true,
  }),
  enablehistory: flag({
    description: 'Writes a history row with every change; off: no new history, existing rows stay readable.',
    default: true,
    restart: true,
  }),
  maxconnections: integer({
    description: 'Most connections of this process to the primary database. Requests beyond the pool wait or get 503.',
    unit: 'connections',
    default: 20,
    minimum: 2,
    maximum: 10_000,
    outside: '0 does not mean unlimited',
    restart: true,
  }),
  maxidleconnections: integer({
    description: 'Idle connections above this number are closed. At most maxconnections.',
    unit: 'connections',
    default: 5,
    minimum: 0,
    maximum: 10_000,
    restart: true,
  }),
});
