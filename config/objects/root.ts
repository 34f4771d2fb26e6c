import { auth } from './auth/auth.ts';
import { authz } from './authz.ts';
import { backfill } from './backfill.ts';
import { cache } from './cache.ts';
import { db } from './db.ts';
import { edge } from './edge.ts';
import { duration, object, text, type LeafPath, type ValueOf } from '../schema/field.ts';
import { domainName } from '../schema/format.ts';
import { integrations } from './integrations.ts';
import { jobqueue } from './jobqueue/jobqueue.ts';
import { keywatcher } from './keywatcher.ts';
import { objectstorage } from './objectstorage.ts';
import { ormconfig } from './ormconfig.ts';
import { ratelimit, ratelimitunmatched } from './ratelimit.ts';
import { server } from './server/server.ts';
import { sessions } from './sessions.ts';
import { shortlinks } from './shortlinks.ts';
import { subscription } from './subscription.ts';
import { totp } from './totp.ts';
import { workflows } from './workflows.ts';

/** The whole configuration. */
export const root = object('The configuration of the server.', {
  domain: text({
    description:
      'Domain of the installation, for example `example.com`. Fields that are not set get their value from it where their description says so.',
    format: domainName,
  }),
  refreshinterval: duration({
    description: 'Interval at which the server reads the configuration again.',
    default: 600_000,
    minimum: 1000,
    maximum: 86_400_000,
  }),
  server,
  ormconfig,
  auth,
  authz,
  db,
  jobqueue,
  cache,
  sessions,
  totp,
  ratelimit,
  ratelimitunmatched,
  objectstorage,
  subscription,
  keywatcher,
  integrations,
  workflows,
  edge,
  shortlinks,
  backfill,
});

/** The resolved configuration: defaults applied, deeply frozen. An empty text means "not set". */
export type Config = ValueOf<typeof root>;

/** The path of one leaf, with `[]` for the items of lists and `*` for those of maps. */
export type ConfigPath = LeafPath<typeof root>;
