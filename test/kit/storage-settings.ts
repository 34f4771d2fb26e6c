import { S3Client } from '@aws-sdk/client-s3';
import { S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';

/** The variable of a leaf below `objectstorage.providers`. */
export function providerVariable(path: string): string {
  return `CORE_OBJECTSTORAGE_PROVIDERS_${path.toUpperCase().replaceAll('.', '_')}`;
}

/** Where `bucketstore` has its files; `enabled` is left to the test. */
export function bucketstoreSettings(url: string, bucket: string): Record<string, string> {
  return {
    [providerVariable('bucketstore.bucket')]: bucket,
    [providerVariable('bucketstore.region')]: 'us-east-1',
    [providerVariable('bucketstore.endpoint')]: url,
    [providerVariable('bucketstore.credentials.accesskeyid')]: S3_CREDENTIALS.accesskeyid,
    [providerVariable('bucketstore.credentials.secretaccesskey')]: S3_CREDENTIALS.secretaccesskey,
  };
}

/** Files in a folder. */
export function diskSettings(folder: string): Record<string, string> {
  return { [providerVariable('disk.enabled')]: 'true', [providerVariable('disk.bucket')]: folder };
}

/** A client of an S3 server of the tests, which is looked at or changed behind the product's back. */
export function s3ClientOf(url: string, region = 'us-east-1'): S3Client {
  const { accesskeyid: accessKeyId, secretaccesskey: secretAccessKey } = S3_CREDENTIALS;
  return new S3Client({ region, endpoint: url, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });
}
