import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { hasBytes } from '#entities/kit/objects/object-rows.ts';
import type { ProviderName } from '#entities/kit/objects/stored-object.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { CloudProvider } from './cloud-provider.ts';
import { DatabaseProvider } from './database-provider.ts';
import { DiskProvider } from './disk-provider.ts';
import type { StorageProvider } from '../provider.ts';
import { S3Provider } from './s3-provider.ts';

export type StorageSettings = Config['objectstorage'];

/** A bucket of a provider; for disk a folder, for the database the namespace of its rows. */
export interface Bucket {
  readonly provider: ProviderName;
  readonly bucket: string;
  /** Empty where the provider has none. */
  readonly region: string;
}

/** Services that providers need besides their settings. */
export interface OpeningOptions {
  /** Has the objects of the provider `database`. */
  readonly database: Pick<Database, 'transact'>;
  readonly clock: Clock;
  /** Called when a provider signs no links for a while, because the environment gives no credentials. */
  readonly onNoCredentials?: (error: unknown) => void;
}

/** Region of buckets whose settings name none. */
const defaultRegion = 'us-east-1';

/** Opens a bucket with the settings of its provider. Nothing connects yet. */
export function openProvider(
  { provider, bucket, region }: Bucket,
  { bucketstore, edgestore, cloudstore }: StorageSettings['providers'],
  { database, clock, onNoCredentials }: OpeningOptions,
): StorageProvider {
  switch (provider) {
    case 'disk':
      return new DiskProvider(bucket, () => isUnusedFolder(database, bucket));
    case 'database':
      return new DatabaseProvider(bucket, database);
    case 'bucketstore': {
      const { endpoint, credentials } = bucketstore;
      return new S3Provider(bucket, { region: region || defaultRegion, endpoint, credentials });
    }
    case 'edgestore': {
      const { credentials } = edgestore;
      const endpoint = edgestore.endpoint || `https://${credentials.accountid}.r2.cloudflarestorage.com`;
      return new S3Provider(bucket, { region: region || 'auto', endpoint, credentials });
    }
    case 'cloudstore':
      break;
  }
  const { endpoint, projectid: projectId } = cloudstore;
  return new CloudProvider(bucket, { endpoint, projectId, clock, onNoCredentials });
}

async function isUnusedFolder(database: Pick<Database, 'transact'>, bucket: string): Promise<boolean> {
  const context = { caller: systemCaller('storage'), requestId: `storage-${newId()}`, readOnly: true };
  return !(await database.transact(context, (unit) => hasBytes(unit, { provider: 'disk', bucket })));
}
