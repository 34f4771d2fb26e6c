// Left to npm run prove; npm test has test/conformance/storage-provider.test.ts.
import { expect, it } from 'vitest';
import { CloudProvider } from '#activities/clients/storage/providers/cloud-provider.ts';
import { openStorageProxy } from '../kit/fakes/storage-proxy.ts';
import { startObjectStore } from '../kit/object-stores.ts';
import { newCloudBucket, openBucket, openCloud, openEdge } from '../kit/storage-providers.ts';
import { startVersitygw } from '../kit/servers/versitygw.ts';
import { describeProvider } from './provider-conformance.ts';

describeProvider('bucketstore at another service', async () => openBucket(await startVersitygw('us-east-1')), {
  signsLinks: true,
});
describeProvider('edgestore', async () => openEdge(await startVersitygw('auto')), { signsLinks: true });
describeProvider('cloudstore', openCloud);

it('cloudstore lists on after a page that has fewer objects than were asked for, or none', async () => {
  const store = await startObjectStore('gcs');
  const proxy = await openStorageProxy(store.url);
  try {
    const provider = new CloudProvider(await newCloudBucket(store.url), { endpoint: proxy.url, projectId: '' });
    for (const name of ['a', 'b']) await provider.put(`core/${name}`, [Buffer.from(name)], 'text/plain');
    const page = (items: readonly object[]) =>
      JSON.stringify({ kind: 'storage#objects', items, nextPageToken: 'more' });
    const first = { name: 'core/a', size: '1', updated: '2026-01-01T00:00:00Z' };
    for (const items of [[], [first]])
      proxy.inject({ header: ['x-test', 'page'], body: [/^[^]*$/, page(items)] }, ({ url }) => url.includes('/o?'));
    const some = await provider.list('core/');
    expect(some).toMatchObject({ items: [{ key: 'core/a' }], after: 'core/a' });
    expect(await provider.list('core/', some.after)).toMatchObject({ items: [{ key: 'core/b' }], after: undefined });
  } finally {
    await proxy.close();
    await store.stop();
  }
});
