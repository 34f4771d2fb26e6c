import { once } from 'node:events';
import { expect, test } from 'vitest';
import { newRegistry } from '#runtime/metrics/process-metrics.ts';
import { serveMetrics } from '#runtime/metrics-server.ts';
import { serverUrl } from '#runtime/server-url.ts';

test('figures that cannot be brought up to date are a refused scrape, and the next one is answered', async () => {
  let isBroken = true;
  const server = await serveMetrics(newRegistry(), { host: undefined, port: 0 }, () => {
    if (isBroken) throw new Error('no figures');
  });
  try {
    const url = `${serverUrl(server)}/metrics`;
    expect((await fetch(url)).status).toBe(500);
    isBroken = false;
    expect((await fetch(url)).status).toBe(200);
  } finally {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});
