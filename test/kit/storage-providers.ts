import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { CloudProvider } from '#activities/clients/storage/providers/cloud-provider.ts';
import { DatabaseProvider } from '#activities/clients/storage/providers/database-provider.ts';
import { DiskProvider } from '#activities/clients/storage/providers/disk-provider.ts';
import type { StorageProvider } from '#activities/clients/storage/provider.ts';
import { S3Provider } from '#activities/clients/storage/providers/s3-provider.ts';
import { S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';
import { openStorageProxy } from './fakes/storage-proxy.ts';
import { startObjectStore, type ObjectStore } from './object-stores.ts';
import { s3ClientOf } from './storage-settings.ts';
import { openWorld } from './world.ts';

export interface OpenedProvider {
  readonly provider: StorageProvider;
  readonly close: () => Promise<void>;
}

export async function openDisk(): Promise<OpenedProvider> {
  const folder = await mkdtemp(join(tmpdir(), 'core-disk-'));
  return { provider: new DiskProvider(folder), close: () => rm(folder, { recursive: true, force: true }) };
}

export async function openDatabase(): Promise<OpenedProvider> {
  const world = await openWorld();
  return { provider: new DatabaseProvider('', world.runtime.database), close: () => world.close() };
}

/** A new bucket of a server with the interface of S3, which ends with the provider. */
export async function openBucket({ url, stop }: ObjectStore): Promise<OpenedProvider> {
  const bucket = await newS3Bucket(url);
  const provider = new S3Provider(
    bucket,
    { region: 'us-east-1', endpoint: url, credentials: S3_CREDENTIALS },
    // A larger object is copied in parts.
    { maxCopyBytes: 6 * 1024 * 1024 },
  );
  return { provider, close: stop };
}

/** As edge platforms are: the region has no meaning, and the parts of an upload must be equal. */
export async function openEdge(store: ObjectStore): Promise<OpenedProvider> {
  const region = 'auto';
  const proxy = await openStorageProxy(store.url, { refusesUnequalParts: true });
  const bucket = await newS3Bucket(store.url, undefined, region);
  const service = { region, endpoint: proxy.url, credentials: S3_CREDENTIALS };
  const close = async () => {
    await proxy.close();
    await store.stop();
  };
  return { provider: new S3Provider(bucket, service, { maxCopyBytes: 6 * 1024 * 1024 }), close };
}

export async function openCloud(): Promise<OpenedProvider> {
  const { url, stop } = await startObjectStore('gcs');
  const bucket = await newCloudBucket(url);
  return { provider: new CloudProvider(bucket, { endpoint: url, projectId: '' }), close: stop };
}

/** @returns the name of a new bucket of the emulator */
export async function newCloudBucket(url: string, name = `t${randomBytes(8).toString('hex')}`): Promise<string> {
  const response = await fetch(`${url}/storage/v1/b?project=test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  if (!response.ok) throw new Error(`the emulator made no bucket: ${response.status}`);
  return name;
}

/** Buckets are made by operators, never by the product. @returns its name */
export async function newS3Bucket(
  url: string,
  name = `t${randomBytes(8).toString('hex')}`,
  region = 'us-east-1',
): Promise<string> {
  const client = s3ClientOf(url, region);
  await client.send(new CreateBucketCommand({ Bucket: name }));
  client.destroy();
  return name;
}
